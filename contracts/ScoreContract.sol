// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Scores of a rollup's users, stage by stage.
/// @notice An agent of the rewards program reads a stage here once it is finalized. Its scores are
/// final then: there is no way to open it again, so everything that could make a finalized stage
/// differ from what was meant is refused rather than tolerated.
/// @dev Functions, events and errors are those that agents and tools of the program know; the
/// spelling of `AddrsAndAmountsLengthMistmatch` is part of its selector. Invariants:
///  1. every stage from `initStage` to the open one exists, and all but the open one are finalized;
///  2. `totalScore` of a stage is the sum of its scores;
///  3. an address is indexed once per stage, in the order of its first update, and is never zero.
contract ScoreContract {
    struct StageInfo {
        uint64 stage;
        uint64 totalScore;
        bool isFinalized;
    }

    struct Score {
        bool isIndexed;
        uint64 amount;
    }

    struct ScoreResponse {
        address addr;
        uint64 amount;
        uint64 index;
    }

    event CreateStage(uint64 stage);
    event FinalizeStage(uint64 stage);
    event UpdateScore(address indexed addr, uint64 indexed stage, uint64 score, uint64 totalScore);

    error PermissionDenied(address deniedAddress);
    error ZeroStage();
    error AddrsAndAmountsLengthMistmatch();
    error StageNotFound(uint64 stage);
    error StageFinalized(uint64 stage);
    error PreviousStageNotFinalized(uint64 stage);
    /// The score of an address, or the total of the stage, would leave 0 .. 2^64-1.
    error ScoreOutOfRange(address addr, uint64 stage);

    uint64 public immutable initStage;
    mapping(uint64 stage => StageInfo) public stages;
    mapping(uint64 stage => mapping(address addr => Score)) public scores;
    mapping(address account => bool) public allowList;

    mapping(uint64 stage => address[]) private order;

    modifier onlyAllowed() {
        if (!allowList[msg.sender]) revert PermissionDenied(msg.sender);
        _;
    }

    /// @param initStage_ first stage that this contract has scores of; it is open at once.
    constructor(uint64 initStage_) {
        if (initStage_ == 0) revert ZeroStage();
        initStage = initStage_;
        allowList[msg.sender] = true;
        _createStage(initStage_);
    }

    /// @notice Closes the open stage for good and opens the one after it.
    function finalizeStage(uint64 stage) external onlyAllowed {
        if (stages[stage].stage == 0) {
            // The stage after the open one is the mistake that an operator who runs early makes.
            if (stage != 0 && stages[stage - 1].stage != 0) revert PreviousStageNotFinalized(stage - 1);
            revert StageNotFound(stage);
        }
        if (stages[stage].isFinalized) revert StageFinalized(stage);
        stages[stage].isFinalized = true;
        emit FinalizeStage(stage);
        _createStage(stage + 1);
    }

    /// @notice Sets the score of one address, whatever it was.
    function updateScore(uint64 stage, address addr, uint64 amount) external onlyAllowed {
        StageInfo storage info = _openStage(stage);
        info.totalScore = _setScore(stage, info.totalScore, addr, amount);
    }

    /// @notice Sets the scores of many addresses, whatever they were. The last of equal addresses counts.
    function updateScores(uint64 stage, address[] calldata addrs, uint64[] calldata amounts) external onlyAllowed {
        if (addrs.length != amounts.length) revert AddrsAndAmountsLengthMistmatch();
        StageInfo storage info = _openStage(stage);
        uint64 total = info.totalScore;
        for (uint256 i = 0; i < addrs.length; i++) {
            total = _setScore(stage, total, addrs[i], amounts[i]);
        }
        info.totalScore = total;
    }

    function increaseScore(uint64 stage, address addr, uint64 amount) external onlyAllowed {
        StageInfo storage info = _openStage(stage);
        uint64 old = scores[stage][addr].amount;
        if (amount > type(uint64).max - old) revert ScoreOutOfRange(addr, stage);
        info.totalScore = _setScore(stage, info.totalScore, addr, old + amount);
    }

    function decreaseScore(uint64 stage, address addr, uint64 amount) external onlyAllowed {
        StageInfo storage info = _openStage(stage);
        uint64 old = scores[stage][addr].amount;
        if (addr != address(0) && amount > old) revert ScoreOutOfRange(addr, stage);
        info.totalScore = _setScore(stage, info.totalScore, addr, addr == address(0) ? 0 : old - amount);
    }

    /// @notice Lets an account write; every account that may write may let others.
    function addAllowList(address account) external onlyAllowed {
        allowList[account] = true;
    }

    function removeAllowList(address account) external onlyAllowed {
        delete allowList[account];
    }

    /// @notice A page of the scores of a stage, in the order in which addresses came.
    /// @dev Always `limit` rows: those past the last score are zero. Readers of the program tell
    /// the end by the first zero address, not by the length.
    /// @param offset how many scores to leave out.
    function getScores(uint64 stage, uint64 offset, uint64 limit) external view returns (ScoreResponse[] memory page) {
        page = new ScoreResponse[](limit);
        address[] storage addrs = order[stage];
        for (uint256 i = 0; i < limit && offset + i < addrs.length; i++) {
            address addr = addrs[offset + i];
            page[i] = ScoreResponse(addr, scores[stage][addr].amount, uint64(offset + i + 1));
        }
    }

    function _createStage(uint64 stage) private {
        stages[stage].stage = stage;
        emit CreateStage(stage);
    }

    function _openStage(uint64 stage) private view returns (StageInfo storage info) {
        info = stages[stage];
        if (info.stage == 0) revert StageNotFound(stage);
        if (info.isFinalized) revert StageFinalized(stage);
    }

    /// @dev The zero address is left out: a zero ends the list for readers.
    /// @return the total of the stage with the new score in it; the caller stores it.
    function _setScore(uint64 stage, uint64 total, address addr, uint64 amount) private returns (uint64) {
        if (addr == address(0)) return total;
        Score storage score = scores[stage][addr];
        uint64 others = total - score.amount;
        if (amount > type(uint64).max - others) revert ScoreOutOfRange(addr, stage);
        if (!score.isIndexed) {
            score.isIndexed = true;
            order[stage].push(addr);
        }
        score.amount = amount;
        emit UpdateScore(addr, stage, amount, others + amount);
        return others + amount;
    }
}
