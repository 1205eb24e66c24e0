import { createHash } from 'node:crypto';
import type { MadeAct } from './chain.js';

/** A class that came over IBC: its path here, and the name that Move gives it. */
export interface MadeClass {
  readonly path: string;
  readonly hashed: string;
}

/** Receives an ICS-721 packet, and notes what the class is called at home. */
export function packet({ world, random, emit }: MadeAct, port: string): MadeClass {
  const class_id = `erc721/${random.integer(1e9).toString(16)}`;
  const name = random.pick(['Initia Dogs', 'ΩΩ', 'nul\0', 'a/b']);
  const channel = `channel-${random.integer(4)}`;
  emit('recv_packet', [
    [
      'packet_data',
      JSON.stringify({
        classId: class_id,
        classData: Buffer.from(JSON.stringify({ name })).toString('base64'),
      }),
    ],
    ['packet_src_port', 'nft-transfer'],
    ['packet_src_channel', 'channel-77'],
    ['packet_dst_port', port],
    ['packet_dst_channel', channel],
  ]);
  const path = `${port}/${channel}/${class_id}`;
  const hashed = `ibc/${createHash('sha256').update(path).digest('hex').toUpperCase()}`;
  for (const key of [path, hashed]) world.classes.set(key, name);
  return { path, hashed };
}
