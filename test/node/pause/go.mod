module weft/test/node/pause

go 1.24
