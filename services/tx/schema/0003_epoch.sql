-- The writer of every row, see services/common/writer/fence.ts; 0 for rows of before. A DELETE leaves rows of later
-- writers alone.
{{add chain epoch UInt64}}
{{add blocks epoch UInt64}}
{{add internal_blocks epoch UInt64}}
{{add bodies epoch UInt64}}
{{add hashes epoch UInt64}}
{{add account_items epoch UInt64}}
{{add account_heads epoch UInt64}}
{{add msg_sets epoch UInt64}}
{{add msg_set_txs epoch UInt64}}
{{add stores epoch UInt64}}
{{add cuts epoch UInt64}}
