-- The writer of every row, see services/common/writer/fence.ts; 0 for rows of before. A DELETE leaves rows of later
-- writers alone.
{{add chain epoch UInt64}}
{{add blocks epoch UInt64}}
{{add changes epoch UInt64}}
{{add balances epoch UInt64}}
{{add holders epoch UInt64}}
{{add ranks epoch UInt64}}
{{add tokens epoch UInt64}}
{{add denoms epoch UInt64}}
{{add checks epoch UInt64}}
{{add cuts epoch UInt64}}
{{add drifting epoch UInt64}}

-- Where a cut ends: see services/common/cuts.ts.
{{add cuts height UInt64}}
{{add cuts top UInt64}}
