import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createLogSampler } from '../../services/common/runtime/log.js';
import { problemOf } from '../../services/gateway/errors.js';
import { createAdmission } from '../../services/gateway/http/admission.js';
import { createOutbox } from '../../services/gateway/http/outbox.js';

describe('gateway: requests in progress', () => {
  it('are bounded, and each client gets its share when there are as many', () => {
    let refused = 0;
    const { begin } = createAdmission(8, () => {
      refused += 1;
    });
    const greedy = Array.from({ length: 8 }, () => begin('greedy'));
    assert.throws(
      () => begin('greedy'),
      (error: unknown) => problemOf(error).http === 503 && problemOf(error).headers?.['retry-after'] === '1',
    );
    // Half of them is the share of each of two.
    const others = Array.from({ length: 4 }, () => begin('other'));
    assert.throws(() => begin('other'));
    begin('third');
    assert.equal(refused, 2);
    for (const end of others) end();
    assert.throws(() => begin('greedy'));
    for (const end of greedy) end();
    for (let n = 0; n < 7; n++) begin('greedy');
    assert.throws(() => begin('greedy'));
  });

  it('are bounded however many clients there are', () => {
    const { begin } = createAdmission(10, () => {});
    let begun = 0;
    for (let n = 0; n < 1_000; n++) {
      try {
        begin(`client ${n}`);
        begun += 1;
      } catch {}
    }
    assert.equal(begun, 20);
  });
});

describe('gateway: answers that are not read', () => {
  function world(max_bytes: number, timeout_ms = 60_000) {
    const events: string[] = [];
    const outbox = createOutbox({
      ...{ max_bytes, timeout_ms },
      onFull: () => events.push('full'),
      onSlow: () => events.push('slow'),
    });
    const send = (client: string, body: Buffer, name = client) => {
      const response = new EventEmitter() as ServerResponse;
      response.destroy = (() => {
        events.push(`closed ${name}`);
        response.emit('close');
      }) as never;
      outbox.add(response, client, body, body.length);
      return response;
    };
    return { events, send };
  }

  it('end with their connection when all are too many bytes: first those of the client that is sent most', () => {
    const { events, send } = world(1_000);
    send('a', Buffer.alloc(400), 'a1');
    const b = send('b', Buffer.alloc(300));
    send('a', Buffer.alloc(250), 'a2');
    assert.deepEqual(events, []);
    send('c', Buffer.alloc(100));
    assert.deepEqual(events, ['full', 'closed a1']);
    b.emit('finish');
    send('d', Buffer.alloc(600));
    assert.deepEqual(events, ['full', 'closed a1']);
  });

  it('count once where several are sent the same body', () => {
    const { events, send } = world(1_000);
    const body = Buffer.alloc(900);
    const responses = Array.from({ length: 50 }, (_, n) => send(`client ${n}`, body));
    assert.deepEqual(events, []);
    for (const response of responses) response.emit('finish');
    send('a', Buffer.alloc(999));
    assert.deepEqual(events, []);
  });

  it('end with their connection after a time', async () => {
    const { events, send } = world(1_000, 20);
    const read = send('read', Buffer.alloc(1));
    send('unread', Buffer.alloc(1));
    read.emit('finish');
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.deepEqual(events, ['slow', 'closed unread']);
  });
});

describe('a line of the log', () => {
  it('is written once in a while, with the number of those left out', () => {
    let now = 0;
    const lines: object[] = [];
    const sampled = createLogSampler(() => now);
    for (now = 0; now < 25_000; now += 10) sampled('the same', (left_out) => lines.push(left_out));
    assert.deepEqual(lines, [{}, { repeated: 999 }, { repeated: 999 }]);
    sampled('another', (left_out) => lines.push(left_out));
    assert.equal(lines.length, 4);
  });
});
