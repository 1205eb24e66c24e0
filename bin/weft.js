#!/usr/bin/env node
import '../dist/tools/main.js';
