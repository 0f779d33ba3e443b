// JSONCodec
