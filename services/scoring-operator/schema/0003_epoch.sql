-- The writer of every row, see services/common/writer/fence.ts; 0 for rows of before. Every program has writers of its own.
{{add l1_stages epoch UInt64}}
{{add policies epoch UInt64}}
{{add runs epoch UInt64}}
{{add scores epoch UInt64}}
{{add address_scores epoch UInt64}}
{{add measures epoch UInt64}}
{{add measured epoch UInt64}}
{{add txs epoch UInt64}}
{{add checks epoch UInt64}}
{{add decisions epoch UInt64}}
