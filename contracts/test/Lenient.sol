// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Contracts that behave as those that are in use behave, where they are less strict than ours.
// For tests only: what an operator must cope with is written out here.

/// Common part: absolute scores, an index, sums that wrap, the zero address skipped before anything is checked.
abstract contract LenientBase {
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

    mapping(uint64 => StageInfo) public stages;
    mapping(uint64 => mapping(address => Score)) public scores;
    mapping(address => bool) public allowList;
    mapping(uint64 => address[]) internal order;

    modifier permitted() {
        if (!allowList[msg.sender]) revert PermissionDenied(msg.sender);
        _;
    }

    function updateScore(uint64 stage, address addr, uint64 amount) external permitted {
        beforeUpdate(stage);
        set(stage, addr, amount);
    }

    function updateScores(uint64 stage, address[] calldata addrs, uint64[] calldata amounts) external permitted {
        beforeUpdate(stage);
        if (addrs.length != amounts.length) revert AddrsAndAmountsLengthMistmatch();
        for (uint256 i = 0; i < addrs.length; i++) set(stage, addrs[i], amounts[i]);
    }

    function increaseScore(uint64 stage, address addr, uint64 amount) external permitted {
        beforeUpdate(stage);
        set(stage, addr, scores[stage][addr].amount + amount);
    }

    function decreaseScore(uint64 stage, address addr, uint64 amount) external permitted {
        beforeUpdate(stage);
        set(stage, addr, scores[stage][addr].amount - amount);
    }

    function addAllowList(address account) external permitted {
        allowList[account] = true;
    }

    function removeAllowList(address account) external permitted {
        allowList[account] = false;
    }

    function getScores(uint64 stage, uint64 offset, uint64 limit) external view returns (ScoreResponse[] memory page) {
        page = new ScoreResponse[](limit);
        for (uint64 i = 0; i < limit && offset + i < order[stage].length; i++) {
            address addr = order[stage][offset + i];
            page[i] = ScoreResponse({addr: addr, amount: scores[stage][addr].amount, index: offset + i + 1});
        }
    }

    function beforeUpdate(uint64 stage) internal virtual {}

    function set(uint64 stage, address addr, uint64 amount) internal {
        if (addr == address(0)) return;
        StageInfo storage info = stages[stage];
        if (info.stage == 0) revert StageNotFound(stage);
        if (info.isFinalized) revert StageFinalized(stage);
        Score storage score = scores[stage][addr];
        if (!score.isIndexed) {
            score.isIndexed = true;
            order[stage].push(addr);
        }
        unchecked {
            info.totalScore = info.totalScore - score.amount + amount;
        }
        score.amount = amount;
        emit UpdateScore(addr, stage, amount, info.totalScore);
    }

    function open(uint64 stage) internal {
        if (stage == 0) revert ZeroStage();
        if (stages[stage].stage != 0) return;
        stages[stage].stage = stage;
        emit CreateStage(stage);
    }
}

/// Finalizing a finalized stage succeeds, says so in an event, and would open the next one again if it could.
contract LenientScore is LenientBase {
    uint64 public initStage;

    constructor(uint64 first) {
        allowList[msg.sender] = true;
        initStage = first;
        open(first);
    }

    function finalizeStage(uint64 stage) external permitted {
        if (stages[stage].stage == 0) revert StageNotFound(stage);
        stages[stage].isFinalized = true;
        emit FinalizeStage(stage);
        open(stage + 1);
    }
}

/// The oldest kind: no constructor argument, no `initStage()`; the first update of a stage opens it,
/// and finalizing opens none.
contract OldestScore is LenientBase {
    uint64 private firstFinalized;

    constructor() {
        allowList[msg.sender] = true;
    }

    function finalizeStage(uint64 stage) external permitted {
        if (firstFinalized == 0) {
            firstFinalized = stage;
        } else {
            if (stages[stage - 1].stage == 0) revert StageNotFound(stage - 1);
            if (!stages[stage - 1].isFinalized) revert PreviousStageNotFinalized(stage - 1);
        }
        if (stages[stage].stage == 0) revert StageNotFound(stage);
        stages[stage].isFinalized = true;
        emit FinalizeStage(stage);
    }

    function beforeUpdate(uint64 stage) internal override {
        open(stage);
    }
}
