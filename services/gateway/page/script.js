// Draws the page from the API's own routes. Text of the chain reaches the page as text
// only (textContent), never as markup.
(() => {
  const period_ms = 3000;
  const kept = 400; // blocks whose times the plot is drawn from
  const shown = 10;
  const near = 20; // blocks behind the node that are no catching up

  const at = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat('en');
  const show = (id, text) => {
    at(id).textContent = text;
  };

  const times = new Map(); // height -> milliseconds of the block's time
  let seen; // height of what is on the page
  let blocks = [];
  let txs = [];
  let waiting = 0;

  async function get(path) {
    const answer = await fetch(path, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(10_000),
    });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.message || `HTTP ${answer.status}`);
    return body;
  }

  const blocksUrl = (limit) => `indexer/block/v1/blocks?pagination.limit=${limit}`;
  const txsUrl = `indexer/tx/v1/txs?pagination.limit=${shown}`;

  /** Seconds, minutes and so on, the largest unit that fits. */
  function span(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 100) return `${s} s`;
    if (s < 6000) return `${Math.round(s / 60)} min`;
    if (s < 172_800) return `${Math.round(s / 3600)} h`;
    return `${number.format(Math.round(s / 86_400))} d`;
  }

  function cell(row, text, kind) {
    const data = row.insertCell();
    data.textContent = text;
    if (kind) data.className = kind;
    return data;
  }

  function linkCell(row, text, href, kind) {
    const data = cell(row, '', kind);
    const link = document.createElement('a');
    link.href = href;
    link.textContent = text;
    data.append(link);
  }

  function drawBlocks(now) {
    at('blocks').replaceChildren();
    for (const block of blocks.slice(0, shown)) {
      const row = at('blocks').insertRow();
      linkCell(
        row,
        number.format(block.height),
        `indexer/block/v1/blocks/${encodeURIComponent(block.height)}`,
      );
      cell(row, span(now - Date.parse(block.timestamp)), 'quiet');
      cell(row, number.format(block.tx_count), 'number');
      cell(row, block.proposer.moniker || '–', 'quiet');
    }
  }

  /** `MsgSend` of `/cosmos.bank.v1beta1.MsgSend`, and how many more there are. */
  function messageOf(tx) {
    const messages = tx.tx?.body?.messages ?? [];
    const type = String(messages[0]?.['@type'] ?? '–')
      .split('.')
      .pop();
    return messages.length > 1 ? `${type} +${messages.length - 1}` : type;
  }

  function drawTxs(now) {
    at('txs').replaceChildren();
    for (const tx of txs) {
      const row = at('txs').insertRow();
      const hash = String(tx.txhash);
      linkCell(
        row,
        `${hash.slice(0, 8)}…${hash.slice(-6)}`,
        `indexer/tx/v1/txs/${encodeURIComponent(hash)}`,
        'hash',
      );
      const failed = tx.code !== 0;
      cell(row, failed ? `Failed: ${messageOf(tx)}` : messageOf(tx), failed ? 'failed' : '');
      cell(row, span(now - Date.parse(tx.timestamp)), 'quiet');
    }
    if (txs.length === 0) cell(at('txs').insertRow(), 'None yet', 'quiet').colSpan = 3;
  }

  /** Blocks a minute in equal stretches of the time that the known blocks span. */
  function rates(points) {
    const first = points[0];
    const last = points[points.length - 1];
    const stretches = Math.max(4, Math.min(48, Math.floor(points.length / 6)));
    const width = (last - first) / stretches;
    if (points.length < 8 || width <= 0) return [];
    const counts = new Array(stretches).fill(0);
    for (const time of points.slice(1))
      counts[Math.min(stretches - 1, Math.floor((time - first) / width))] += 1;
    return counts.map((count) => (count * 60_000) / width);
  }

  /** A round number that is not below the value, for the top of the plot. */
  function ceiling(value) {
    const unit = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 3, 4, 5, 6, 8, 10].map((n) => n * unit).find((n) => n >= value) ?? value;
  }

  function shape(kind, path) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    element.setAttribute('class', kind);
    element.setAttribute('d', path);
    return element;
  }

  function drawPace() {
    const points = [...times.values()].sort((a, b) => a - b);
    const values = rates(points);
    const caption = at('pace-caption');
    caption.replaceChildren();
    if (values.length === 0) {
      at('pace').replaceChildren();
      caption.textContent = 'The plot begins with the eighth block.';
      show('rate', '–');
      return;
    }
    const top = ceiling(Math.max(...values));
    const x = (i) => (i / (values.length - 1)) * 1000;
    const y = (value) => 100 - (value / top) * 100;
    const line = values
      .map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(2)}`)
      .join('');
    at('pace').setAttribute('viewBox', '0 0 1000 100');
    at('pace').replaceChildren(
      shape('rule', 'M0 0H1000M0 50H1000'),
      shape('area', `${line}V100H0Z`),
      shape('curve', line),
    );
    const clock = (ms) =>
      new Date(ms).toLocaleString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
    for (const text of [
      clock(points[0]),
      `top line: ${number.format(top)} a minute`,
      clock(points[points.length - 1]),
    ]) {
      const part = document.createElement('span');
      part.textContent = text;
      caption.append(part);
    }
    const mean = ((points.length - 1) * 60_000) / (points[points.length - 1] - points[0]);
    show('rate', `${mean >= 100 ? number.format(Math.round(mean)) : mean.toPrecision(2)} a minute`);
  }

  /** Keeps the times of the newest blocks for the plot. */
  function remember(list) {
    for (const block of list) times.set(Number(block.height), Date.parse(block.timestamp));
    const heights = [...times.keys()].sort((a, b) => b - a);
    for (const height of heights.slice(kept)) times.delete(height);
  }

  const blocksOf = (count) => (count === 1 ? '1 block' : `${number.format(count)} blocks`);

  /** What the index is doing, and how good that is. Block times do not tell: a chain may be replayed. */
  function stateOf(live) {
    if (live.height === 0 || blocks.length === 0) return ['wait', 'Waiting for the first block'];
    const newest = blocks[0];
    const span_ms = Date.parse(newest.timestamp) - Math.min(...times.values());
    const mean_ms = span_ms / Math.max(1, times.size - 1);
    const behind = live.node_height - live.height;
    const lag = `${blocksOf(behind)} behind the node`;
    // Far longer without a block than this chain takes for one.
    if (live.quiet_ms > Math.max(60_000, mean_ms * 20))
      return behind > 0
        ? ['bad', `Stands still for ${span(live.quiet_ms)}, ${lag}`]
        : ['wait', `No new block for ${span(live.quiet_ms)}`];
    return behind > near ? ['wait', `Catching up, ${lag}`] : ['good', 'Following the chain'];
  }

  function drawStatus(live, now) {
    document.title = `${live.chain_id || 'weft'} · ${number.format(live.height)}`;
    show('chain', live.chain_id || 'weft');
    show('height', number.format(live.height));
    show('version', `weft ${live.version}, ${live.commit_hash.slice(0, 10)}`);
    const tracks = [];
    if (live.internal_tx_height > 0) tracks.push(`internal txs at ${number.format(live.internal_tx_height)}`);
    if (live.rich_list_height > 0) tracks.push(`rich list at ${number.format(live.rich_list_height)}`);
    show('tracks', tracks.join(', '));
    const [state, words] = stateOf(live);
    at('state').dataset.state = state;
    show('state', words);
    if (blocks.length === 0) return;
    const behind = live.node_height - live.height;
    show('lag', blocksOf(Math.max(0, behind)));
    const age = now - Date.parse(blocks[0].timestamp);
    show('age', age < 0 ? 'now' : `${span(age)} ago`);
  }

  async function refresh() {
    const live = await get('live.json');
    if (seen !== live.height) {
      // After a pause, or when the index went back, the times in between are fetched again.
      const isNear =
        times.has(live.height) || (seen !== undefined && live.height > seen && live.height - seen < 20);
      if (!isNear) times.clear();
      const [blockPage, txPage] = await Promise.all([get(blocksUrl(isNear ? 30 : kept)), get(txsUrl)]);
      blocks = blockPage.blocks;
      txs = txPage.txs;
      remember(blocks);
      show('total', number.format(txPage.pagination.total));
      seen = live.height;
      drawPace();
    }
    const now = Date.now();
    drawBlocks(now);
    drawTxs(now);
    drawStatus(live, now);
  }

  async function loop() {
    try {
      if (!document.hidden || seen === undefined) await refresh();
      waiting = 0;
    } catch (error) {
      waiting += 1;
      at('state').dataset.state = 'bad';
      show('state', `The index does not answer: ${error.message}`);
    }
    setTimeout(loop, Math.min(30_000, period_ms * (waiting + 1)));
  }
  void loop();
})();
