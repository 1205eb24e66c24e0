import { createHash } from 'node:crypto';
import { attributeOf, isObject, stringOf, type TxEvent } from '../../common/chain/events.js';
import { messageOf } from '../../common/runtime/errors.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import type { TxSink } from './types.js';

/**
 * Reads the classes of NFTs that a tx received over IBC (ICS-721), with the names they have
 * at home. Here such a class is called `ibc/` and a hash of its path, or by the path itself.
 */
export function decodePackets(events: readonly TxEvent[], sink: TxSink): void {
  for (const event of events) {
    if (event.type !== 'recv_packet') continue;
    const port = attributeOf(event, 'packet_src_port');
    if (port !== 'nft-transfer' && !port.startsWith('wasm.')) continue;
    try {
      decodePacket(event, port, sink);
    } catch (error) {
      sink.problem(`packet of ${port}`, messageOf(error));
    }
  }
}

function decodePacket(event: TxEvent, port: string, sink: TxSink): void {
  const packet: unknown = parseInnerJson(attributeOf(event, 'packet_data'));
  if (!isObject(packet) || typeof packet['classId'] !== 'string') return;
  const class_id = packet['classId'];
  // What was here before comes back as what it was.
  if (class_id.startsWith(`${port}/${attributeOf(event, 'packet_src_channel')}/`)) return;
  const origin_name = nameIn(stringOf(packet['classData']));
  if (origin_name === '') return;
  const path = `${attributeOf(event, 'packet_dst_port')}/${attributeOf(event, 'packet_dst_channel')}/${class_id}`;
  for (const class_name of [ibcName(path), path]) sink.add({ what: 'class', class_name, origin_name });
}

const ibcName = (path: string): string =>
  `ibc/${createHash('sha256').update(path).digest('hex').toUpperCase()}`;

/** The name in class data: base64 of a JSON object; '' when there is none. */
function nameIn(classData: string): string {
  const data: unknown = parseInnerJson(Buffer.from(classData, 'base64').toString('utf8') || 'null');
  if (!isObject(data)) return '';
  const info = isObject(data['contract_info']) ? data['contract_info'] : {};
  return (stringOf(data['name']) || stringOf(info['name'])).toWellFormed();
}
