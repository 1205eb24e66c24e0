-- The writer of every row, see services/common/writer/fence.ts; 0 for rows of before.
{{add generations epoch UInt64}}
