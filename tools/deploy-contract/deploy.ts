import { getCreateAddress } from 'ethers';
import { TryAgainError, UserError } from '../../services/common/runtime/errors.js';
import type { Log } from '../../services/common/runtime/log.js';
import { deployData } from '../../services/scoring-operator/contract/artifact.js';
import { createScoreContract } from '../../services/scoring-operator/contract/client.js';
import type { ContractState } from '../../services/scoring-operator/contract/contract.js';
import { fetchNonces, findByNonce } from '../../services/scoring-operator/contract/nonce.js';
import { type Evm, openTxSender } from '../../services/scoring-operator/contract/open.js';
import { fetchReceipt, type RawReceipt } from '../../services/scoring-operator/contract/receipts.js';
import type { Signer } from '../../services/scoring-operator/contract/signer.js';
import { type CheckInput, estimateDeploy } from './checks.js';
import {
  type DeployRecord,
  type PendingDeploy,
  readPending,
  removePending,
  writePending,
  writeRecord,
} from './record.js';
import type { DeployConfig } from './settings.js';

/** What a deployment is made with. */
export interface DeployInput extends CheckInput {
  readonly config: DeployConfig;
  readonly signer: Signer;
  /** Where records are. */
  readonly folder: string;
  /** Says something to the person who waits. */
  readonly say: (text: string) => void;
  readonly log: Log;
}

/** Deploys the contract, waits for its receipt, reads it back and writes the record. @throws ContractError, NodeError, UserError */
export async function deploy(input: DeployInput, stage: bigint): Promise<DeployRecord> {
  const { evm, signer, config, artifact, folder, say } = input;
  const data = deployData(artifact, stage);
  const sender = openTxSender(evm, signer, config, input);
  const tx_hashes: string[] = [];
  const { receipt, failure } = await sender.send({
    to: undefined,
    data,
    what: 'deploying the scoring contract',
    estimate: () => estimateDeploy(input, data),
    async onSigned({ tx_hash, nonce }) {
      tx_hashes.push(tx_hash);
      const address = getCreateAddress({ from: signer.address, nonce });
      const pending = {
        ...identity(evm, stage),
        deployer: signer.address,
        nonce,
        tx_hashes: [...tx_hashes],
        address,
      };
      writePending(folder, pending);
      say(tx_hash === '' ? 'the signer is asked' : `tx ${tx_hash}`);
    },
  });
  if (failure !== undefined) {
    removePending(folder, evm.chain_id);
    throw failure;
  }
  return finish(input, receipt, stage, signer.address);
}

/**
 * What became of a deployment that an earlier run had begun: its record, when it is on the chain
 * after all; undefined when it never will be.
 *
 * @throws TryAgainError while it may still come.
 */
export async function finishPending(input: DeployInput): Promise<DeployRecord | undefined> {
  const { evm, folder, say } = input;
  const pending = readPending(folder, evm.chain_id);
  if (pending === undefined) return undefined;
  say(`an earlier run had sent a deployment (nonce ${pending.nonce} of ${pending.deployer}); looking for it`);
  const receipt = await receiptOf(evm, pending);
  if (receipt?.is_success) return finish(input, receipt, BigInt(pending.init_stage), pending.deployer);
  if (receipt === undefined) {
    const { mined, pooled } = await fetchNonces(evm.rpc, pending.deployer);
    if (mined <= pending.nonce && pooled > pending.nonce) {
      throw new TryAgainError(`the earlier deployment waits in the pool of the node: try again in a while`);
    }
  }
  say('it is not on the chain, and cannot come any more once another one is sent');
  removePending(folder, evm.chain_id);
  return undefined;
}

async function receiptOf(
  { rpc }: Evm,
  { tx_hashes, deployer, nonce }: PendingDeploy,
): Promise<RawReceipt | undefined> {
  for (const tx_hash of tx_hashes) {
    const receipt = tx_hash === '' ? undefined : await fetchReceipt(rpc, tx_hash);
    if (receipt !== undefined) return receipt;
  }
  const { mined } = await fetchNonces(rpc, deployer);
  const found = mined > nonce ? await findByNonce(rpc, deployer, nonce, 0) : undefined;
  return found?.to === undefined && found !== undefined ? fetchReceipt(rpc, found.tx_hash) : undefined;
}

async function finish(
  input: DeployInput,
  receipt: RawReceipt,
  stage: bigint,
  deployer: string,
): Promise<DeployRecord> {
  const { evm, artifact, folder, say } = input;
  if (receipt.contract_address === undefined) {
    throw new UserError(
      `tx ${receipt.tx_hash} is in block ${receipt.height}, and its receipt names no contract`,
    );
  }
  const contract = createScoreContract({ rpc: evm.rpc, address: receipt.contract_address, from: deployer });
  await readBack(contract.at(receipt.height), contract.address, stage, deployer);
  const record: DeployRecord = {
    address: contract.address,
    ...identity(evm, stage),
    deployer,
    tx_hash: receipt.tx_hash,
    height: receipt.height,
    gas_used: String(receipt.gas_used),
    compiler: artifact.compiler,
  };
  say(
    `in block ${receipt.height}, ${receipt.gas_used} gas; read back: first stage ${stage}, ${deployer} may write`,
  );
  say(`written to ${writeRecord(folder, record)}`);
  removePending(folder, evm.chain_id);
  return record;
}

const identity = (evm: Evm, stage: bigint): Pick<DeployRecord, 'evm_chain_id' | 'init_stage'> => ({
  evm_chain_id: String(evm.chain_id),
  init_stage: String(stage),
});

/** What is on the chain is what was meant. @throws UserError when it is not; ContractError, NodeError */
async function readBack(
  contract: ContractState,
  address: string,
  stage: bigint,
  deployer: string,
): Promise<void> {
  const [first, opened, allowed] = [
    await contract.initStage(),
    await contract.stage(stage),
    await contract.isAllowed(deployer),
  ];
  if (first !== stage || opened?.is_finalized !== false || !allowed) {
    throw new UserError(
      `${address} is not what was deployed: first stage ${first}, stage ${stage} ${opened === undefined ? 'not there' : 'there'}, deployer ${allowed ? 'allowed' : 'not allowed'}`,
    );
  }
}
