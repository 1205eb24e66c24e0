import type { Database } from '../../services/common/clickhouse/database.js';
import { UserError } from '../../services/common/runtime/errors.js';
import type { Program } from '../../services/scoring-operator/program/program.js';
import { readPrograms } from '../../services/scoring-operator/store/read.js';

/**
 * What the tables call a program: the EVM chain id and the contract.
 *
 * @throws UserError when they have nothing of it, or of two chains with a contract of that address.
 */
export async function findProgram(
  { contract, rollup }: Program,
  database: Database,
  database_name: string,
): Promise<string> {
  const wanted = rollup.evm_chain_id === undefined ? '' : String(rollup.evm_chain_id);
  const found = (await readPrograms(database, database_name)).filter((program) =>
    `/${program}`.endsWith(`${wanted === '' ? '' : `/${wanted}`}/${contract.toLowerCase()}`),
  );
  const [only, other] = found;
  if (only === undefined)
    throw new UserError(`nothing was done for the contract ${contract} with these tables`);
  if (other !== undefined)
    throw new UserError(
      `the tables have ${found.join(' and ')}: say which in the program (rollup.evm_chain_id)`,
    );
  return only;
}
