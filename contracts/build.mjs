// Compiles the contracts with the solc that package.json pins, and writes what came out next to them:
//
//   node contracts/build.mjs           writes artifacts/ and test/artifacts/
//   node contracts/build.mjs --check   compares with what is there; code 1 when it differs
//
// The same source gives the same bytes on every machine: no paths and no metadata hash are in them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import solc from 'solc';

const folder = dirname(fileURLToPath(import.meta.url));

/**
 * Paris has no PUSH0: the code then runs on rollups of every age. What is read by `extcodehash` or by
 * an explorer does not depend on the comments, since no hash of the metadata is appended.
 */
const settings = {
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 1000 },
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
};

const outputs = [
  { source: 'ScoreContract.sol', contract: 'ScoreContract', file: 'artifacts/ScoreContract.json' },
  { source: 'test/Lenient.sol', contract: 'LenientScore', file: 'test/artifacts/LenientScore.json' },
  { source: 'test/Lenient.sol', contract: 'OldestScore', file: 'test/artifacts/OldestScore.json' },
];

/** Compiles all of them; throws with the compiler's words, warnings included. */
function compile() {
  const sources = Object.fromEntries(
    outputs.map(({ source }) => [source, { content: readFileSync(join(folder, source), 'utf8') }]),
  );
  const selection = { '*': { '*': ['abi', 'evm.bytecode.object'] } };
  const input = { language: 'Solidity', sources, settings: { ...settings, outputSelection: selection } };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const said = (output.errors ?? []).map(({ formattedMessage }) => formattedMessage);
  if (said.length > 0) throw new Error(said.join('\n'));
  return outputs.map(({ source, contract, file }) => {
    const { abi, evm } = output.contracts[source][contract];
    const compiler = { name: 'solc', version: solc.version(), settings };
    const artifact = { contract, source, compiler, abi, bytecode: `0x${evm.bytecode.object}` };
    return { file, text: `${JSON.stringify(artifact, null, 1)}\n` };
  });
}

let differs = 0;
for (const { file, text } of compile()) {
  const path = join(folder, file);
  const same = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (same) continue;
  if (process.argv.includes('--check')) {
    console.error(`contracts/${file} is not what its source compiles to: run node contracts/build.mjs`);
    differs += 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`contracts/${file}`);
  }
}
process.exitCode = differs > 0 ? 1 : 0;
