import { sleep } from '../../services/common/runtime/lifecycle.js';
import { deployData, readArtifact } from '../../services/scoring-operator/contract/artifact.js';
import type { Anvil } from './anvil.js';

/** Deploys our contract with the first account of a local node. @throws Error when that fails */
export async function deployOnAnvil(anvil: Anvil, stage: bigint): Promise<string> {
  const tx_hash = await anvil.call('eth_sendTransaction', {
    from: anvil.accounts[0]?.address,
    data: deployData(readArtifact(), stage),
    gas: '0x500000',
    gasPrice: '0x0',
  });
  for (;;) {
    const receipt = (await anvil.call('eth_getTransactionReceipt', tx_hash)) as {
      status: string;
      contractAddress: string;
    } | null;
    if (receipt !== null && receipt.status !== '0x1') throw new Error('the contract could not be deployed');
    if (receipt !== null) return receipt.contractAddress;
    await sleep(20);
  }
}
