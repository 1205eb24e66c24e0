import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sleep, stopAll } from '../../services/common/runtime/lifecycle.js';

const child = fileURLToPath(new URL('../support/lifecycle-child.js', import.meta.url));

interface Ending {
  readonly code: number;
  /** What it printed, word by word. */
  readonly said: string[];
  readonly stderr: string;
}

/** Runs the program, and sends a signal once it has said a word. */
async function run(behaviour: string, signal?: NodeJS.Signals, after = 'up'): Promise<Ending> {
  const program = fork(child, [behaviour], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let [stdout, stderr] = ['', ''];
  let isSent = signal === undefined;
  program.stdout?.on('data', (chunk) => {
    stdout += chunk;
    // Once: a second signal would end the draining.
    if (isSent || !stdout.includes(`${after}\n`)) return;
    isSent = true;
    program.kill(signal);
  });
  program.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(program, 'close');
  return { code, said: stdout.trim().split('\n'), stderr };
}

describe('a program that runs until a signal', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`stops in order and ends with 0 after ${signal}`, async () => {
      const { code, said } = await run('well', signal);
      assert.deepEqual([code, said], [0, ['starting', 'up', 'second stopped', 'first stopped']]);
    });
  }

  it('stops writing first, says that it is not ready any more, and stops only after the time it is given', async () => {
    const { code, said } = await run('short drain', 'SIGTERM');
    // The program's own timer says that the time was over: no clock of this process does, which the machine may hold up.
    assert.deepEqual(
      [code, said],
      [
        0,
        ['starting', 'up', 'stops writing', 'draining', 'still draining', 'second stopped', 'first stopped'],
      ],
    );
  });

  it('does not wait for that time after a second signal', async () => {
    const program = fork(child, ['long drain'], { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] });
    program.stdout?.on('data', (chunk) => {
      if (/up|draining/.test(String(chunk))) program.kill('SIGTERM');
    });
    assert.deepEqual(await once(program, 'close'), [0, null]);
  });

  it('stops what has come up when the signal comes during the start', async () => {
    const { code, said } = await run('slow start', 'SIGTERM', 'starting');
    assert.deepEqual([code, said], [0, ['starting', 'up', 'second stopped', 'first stopped']]);
  });

  it('ends with 0 when the signal makes the start fail', async () => {
    const { code, said, stderr } = await run('start cut short', 'SIGTERM', 'starting');
    assert.deepEqual([code, said], [0, ['starting']]);
    assert.doesNotMatch(stderr, /aborted/);
  });

  it('ends with 1 and nothing but the sentence for a mistake of the user', async () => {
    assert.deepEqual(await run('mistake'), { code: 1, said: ['starting'], stderr: 'PORT is wrong\n' });
  });

  it('ends with 75 and a log line for anything else', async () => {
    const { code, stderr } = await run('failure');
    assert.equal(code, 75);
    assert.equal(JSON.parse(stderr).msg, 'no luck');
  });

  it('says so, with 75, when something does not stop; the rest is stopped', async () => {
    const { code, said, stderr } = await run('failing stop', 'SIGTERM');
    assert.deepEqual([code, said], [75, ['starting', 'up', 'first stopped']]);
    assert.match(stderr, /does not stop/);
  });
});

describe('a program of which a part cannot go on', function () {
  this.timeout(30_000);

  it('says why in one line, stops the rest without draining, and ends with 75', async () => {
    const { code, said, stderr } = await run('fatal');
    assert.deepEqual(
      [code, said.slice(0, 2), said.slice(-2)],
      [75, ['starting', 'up'], ['second stopped', 'first stopped']],
    );
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.filter(({ level }) => level === 'fatal').map(({ msg }) => msg),
      ['the process ends with code 75: superseded'],
    );
  });

  it('ends with 75 when that happens during the start', async () => {
    const { code, said } = await run('fatal at start');
    assert.deepEqual([code, said], [75, ['starting', 'up', 'second stopped', 'first stopped']]);
  });

  it('ends with 75 within 10 s even if the rest does not stop', async () => {
    const { code, said } = await run('fatal, and it hangs');
    assert.deepEqual([code, said], [75, ['starting', 'up']]);
  });

  it('ends with 75 when that happens while it drains', async () => {
    const { code } = await run('fatal while draining', 'SIGTERM');
    assert.equal(code, 75);
  });
});

describe('parts of a program', () => {
  it('are stopped last to first, each once the one before is down', async () => {
    const order: string[] = [];
    const part = (name: string) => async () => {
      order.push(`${name} begins`);
      await sleep(5);
      order.push(`${name} ends`);
    };
    await stopAll([part('a'), part('b')])();
    assert.deepEqual(order, ['b begins', 'b ends', 'a begins', 'a ends']);
  });

  it('wait no longer than their signal lets them', async () => {
    const controller = new AbortController();
    const waits = [sleep(60_000, controller.signal), sleep(60_000, AbortSignal.abort())];
    controller.abort();
    await Promise.all(waits);
  });
});
