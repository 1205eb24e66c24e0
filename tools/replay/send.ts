import type { ServerResponse } from 'node:http';
import type { FaultKind } from './faults.js';
import type { Answer } from './types.js';

/** Sends an answer as it should be. */
export function send(res: ServerResponse, answer: Answer): void {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  res.writeHead(answer.status, { 'content-type': answer.type, 'content-length': body.length });
  res.end(body);
}

/** Spoils an answer in the given way. */
export function misbehave(res: ServerResponse, kind: FaultKind, answer: Answer): void {
  const body = Buffer.from(answer.body);
  const half = body.subarray(0, Math.max(1, Math.floor(body.length / 2)));
  switch (kind) {
    case 'http500':
      send(res, { ...answer, status: 500, body: '{"code":2, "message":"injected failure", "details":[]}' });
      break;
    case 'html502':
      send(res, {
        ...answer,
        status: 502,
        type: 'text/html',
        body: '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n',
      });
      break;
    case 'http429':
      send(res, { ...answer, status: 429, type: 'text/plain', body: 'Too Many Requests' });
      break;
    case 'cut':
      res.writeHead(answer.status, { 'content-type': answer.type, 'content-length': body.length });
      res.write(half, () => res.destroy());
      break;
    case 'truncated':
      send(res, { ...answer, body: half });
      break;
    case 'reset':
      res.socket?.resetAndDestroy();
      break;
    case 'timeout':
      break;
  }
}
