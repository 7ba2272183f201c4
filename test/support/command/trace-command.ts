// Runs the command line under strace, for what no test can see from inside: which process opens a file as which user.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { mainFile, NODE_COMPILE_CACHE, nodeProgram } from './run-command-process.ts'

export type TracedRun = {
  readonly exit: number | null
  readonly stdout: string
  readonly stderr: string
  /** System calls of all threads in their order, each after the number of its thread. */
  readonly calls: readonly string[]
}

/** `dir`: folder for the trace. */
export function traceCommand(dir: string, words: readonly string[]): TracedRun {
  const log = path.join(dir, 'calls')
  const calls = 'trace=openat,open,setuid,setresuid,setreuid,clone,clone3,fork,vfork'
  const strace = ['-f', '--seccomp-bpf', '-qq', '-s', '300', '-e', calls, '-e', 'signal=none', '-o', log]
  const { status, stdout, stderr } = spawnSync('strace', [...strace, nodeProgram, mainFile, ...words], {
    encoding: 'utf8',
    env: { ...process.env, NODE_COMPILE_CACHE },
  })
  return { exit: status, stdout, stderr, calls: fs.readFileSync(log, 'utf8').split('\n') }
}
