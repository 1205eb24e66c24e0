import { Interface } from 'ethers';

/**
 * What is called, emitted and thrown by every kind of scoring contract. `ScoreOutOfRange` is
 * thrown by ours only; the others wrap instead.
 */
export const scoreInterface = new Interface([
  'function initStage() view returns (uint64)',
  'function stages(uint64) view returns (uint64 stage, uint64 totalScore, bool isFinalized)',
  'function scores(uint64, address) view returns (bool isIndexed, uint64 amount)',
  'function allowList(address) view returns (bool)',
  'function getScores(uint64 stage, uint64 offset, uint64 limit) view returns (tuple(address addr, uint64 amount, uint64 index)[])',
  'function updateScores(uint64 stage, address[] addrs, uint64[] amounts)',
  'function updateScore(uint64 stage, address addr, uint64 amount)',
  'function increaseScore(uint64 stage, address addr, uint64 amount)',
  'function decreaseScore(uint64 stage, address addr, uint64 amount)',
  'function finalizeStage(uint64 stage)',
  'function addAllowList(address account)',
  'function removeAllowList(address account)',
  'event CreateStage(uint64 stage)',
  'event FinalizeStage(uint64 stage)',
  'event UpdateScore(address indexed addr, uint64 indexed stage, uint64 score, uint64 totalScore)',
  'error PermissionDenied(address deniedAddress)',
  'error ZeroStage()',
  'error AddrsAndAmountsLengthMistmatch()',
  'error StageNotFound(uint64 stage)',
  'error StageFinalized(uint64 stage)',
  'error PreviousStageNotFinalized(uint64 stage)',
  'error ScoreOutOfRange(address addr, uint64 stage)',
  // What the compiler itself throws: require with words, and arithmetic.
  'error Error(string message)',
  'error Panic(uint256 code)',
]);
