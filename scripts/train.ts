#!/usr/bin/env node
import process from 'node:process'
import { runCli } from './run-cli.ts'

process.exitCode = await runCli(['train', ...process.argv.slice(2)])
