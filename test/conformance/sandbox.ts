// What every sandbox must keep, whatever its isolation: results, inputs and limits.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, vi } from 'vitest'
import type { SandboxCommand } from '../../daemon/kernel/sandbox/sandbox.ts'
import {
  isRunning,
  listRunFolders,
  mebibyte,
  plain_limits,
  readText,
  requirement,
  type SandboxRequirement,
  shell,
  uniqueSeconds,
} from './sandbox-requirement.ts'

export const sandboxLimitRequirements: readonly SandboxRequirement[] = [
  requirement('result', 'exit code and both streams come back', async ({ sandbox }) => {
    const result = await sandbox.run(shell('echo out; echo err >&2; exit 42'))
    expect(result).toMatchObject({ kind: 'exited', code: 42 })
    if (result.kind !== 'exited') return
    expect([result.stdout, result.stderr].map((bytes) => Buffer.from(bytes).toString())).toEqual(['out\n', 'err\n'])
  }),

  requirement('signal', 'the signal that ended the command is named', async ({ sandbox }) => {
    expect(await sandbox.run(shell('kill -SEGV $$'))).toMatchObject({ kind: 'signalled', signal: 'SIGSEGV' })
  }),

  requirement('arguments', 'arguments are passed as they are, and no shell reads them', async ({ sandbox }) => {
    const args = ['$(touch /tmp/hacked)', 'a b', "'", '"', '-x', '--', '', '*', 'naïve\n;']
    const command = { ...shell(''), args: ['-c', 'for each in "$@"; do printf "[%s]" "$each"; done', 'sh', ...args] }
    expect(readText(await sandbox.run(command))).toBe(args.map((arg) => `[${arg}]`).join(''))
  }),

  requirement(
    'inputs',
    'a command reads copies of its inputs, and can change no original',
    async ({ sandbox, dir }) => {
      const [a, b] = [path.join(dir, 'one'), path.join(dir, 'two')]
      const bytes = Buffer.from(Array.from({ length: mebibyte }, (_, at) => (at * 7) % 256))
      fs.writeFileSync(a, bytes, { mode: 0o600 })
      fs.writeFileSync(b, '', { mode: 0o600 })
      const inputs = { 'a.bin': a, 'b-2_x': b }
      const sums = shell('sha256sum <"$1"; wc -c <"$2"; echo x >>"$1" 2>/dev/null; rm -f "$1" "$2"; exit 0', { inputs })
      const expected = createHash('sha256').update(bytes).digest('hex')
      expect(readText(await sandbox.run(sums)).split(/\s+/)).toEqual([expected, '-', '0', ''])
      expect(fs.readFileSync(a).equals(bytes)).toBe(true)
      expect(fs.existsSync(b)).toBe(true)
    },
  ),

  requirement('environment', 'nothing of this process’s environment is passed on', async ({ sandbox }) => {
    vi.stubEnv('SANDBOX_CANARY', 'secret of the parent')
    const text = readText(await sandbox.run(shell('env')))
    vi.unstubAllEnvs()
    const names = text.split('\n').flatMap((line) => /^([A-Za-z_]\w*)=/.exec(line)?.[1] ?? [])
    // Variables that a shell sets by itself.
    expect(names.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)).sort()).toEqual([
      ...['HOME', 'LANG', 'PATH', 'TMPDIR'],
    ])
  }),

  requirement('descriptors', 'no descriptor is open but the three standard ones', async ({ sandbox, dir }) => {
    fs.writeFileSync(path.join(dir, 'in'), 'x')
    const held = fs.openSync(path.join(dir, 'in'), 'r')
    const script = 'for n in 3 4 5 6 7 8 9 10 11 12; do [ -e "/proc/self/fd/$n" ] && echo "$n"; done; exit 0'
    const result = await sandbox.run({ ...shell(script, { inputs: { a: path.join(dir, 'in') } }) })
    fs.closeSync(held)
    // A shell holds the script's own file at most, and reads this one from an argument.
    expect(readText(result)).toBe('')
  }),

  requirement('folder', 'its own folder can be written, and is gone afterwards', async ({ sandbox }) => {
    const script = 'echo x >"$TMPDIR/y" && cat "$HOME/y" && [ "$(pwd)" = "$HOME" ]'
    expect(readText(await sandbox.run(shell(script)))).toBe('x\n')
    expect(listRunFolders()).toEqual([])
  }),

  requirement('time', 'a command that ignores requests to end, ends', async ({ sandbox }) => {
    const mark = uniqueSeconds()
    const script = `trap '' TERM INT HUP; sleep ${mark} & wait; wait`
    const result = await sandbox.run(shell(script, { limits: { time_ms: 3_000 } }))
    expect(result).toMatchObject({ kind: 'exceeded', limit: 'time_ms' })
    await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
  }),

  requirement('processor', 'a command that computes without end, ends', async ({ sandbox }) => {
    const result = await sandbox.run(shell('while :; do :; done', { limits: { cpu_s: 1 } }))
    expect(result).toMatchObject({ kind: 'exceeded', limit: 'cpu_s' })
  }),

  requirement('memory', 'a process that takes memory without end gets no more than its limit', async ({ sandbox }) => {
    const result = await sandbox.run(shell('exec tail /dev/zero', { limits: { memory_bytes: 128 * mebibyte } }))
    expect(result.kind === 'exited' ? result.code : result.kind).not.toBe(0)
    expect(result).not.toMatchObject({ kind: 'exceeded', limit: 'time_ms' })
  }),

  requirement('memory-sum', 'processes that take memory together are ended', async ({ sandbox }) => {
    const one = `perl -e '$x = "x" x ${100 * mebibyte}; sleep 100' &`
    const limits = { memory_bytes: 300 * mebibyte }
    const result = await sandbox.run(shell(`${one.repeat(6)} wait`, { limits }))
    expect(result).toMatchObject({ kind: 'exceeded', limit: 'memory_bytes' })
  }),

  requirement('processes', 'a fork bomb runs out of processes', async ({ sandbox }) => {
    const script = 'i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i + 1)); done; wait'
    const result = await sandbox.run(shell(script))
    expect(result).toMatchObject({ kind: 'exited' })
    if (result.kind === 'exited') expect(Buffer.from(result.stderr).toString()).toMatch(/Cannot fork/)
    const bomb = await sandbox.run(shell('f() { f | f & f; }; f', { limits: { time_ms: 20_000 } }))
    expect(bomb.kind).toMatch(/exited|exceeded|signalled/)
  }),

  requirement('open-files', 'so many files and no more are open', async ({ sandbox }) => {
    const script = `perl -e 'while (open(my $f, "<", "/dev/null")) { push @f, $f } print scalar(@f)'`
    expect(Number(readText(await sandbox.run(shell(script))))).toBeLessThan(plain_limits.open_files)
  }),

  requirement('disk', 'no file grows beyond the limit', async ({ sandbox }) => {
    const script = 'head -c 8388608 /dev/zero >"$HOME/big" 2>/dev/null; wc -c <"$HOME/big"'
    expect(Number(readText(await sandbox.run(shell(script))))).toBeLessThanOrEqual(plain_limits.disk_bytes)
  }),

  requirement('output', 'output without end ends the command, and is kept up to the limit', async ({ sandbox }) => {
    const result = await sandbox.run(shell('yes & yes >&2'))
    expect(result).toMatchObject({ kind: 'exceeded', limit: 'output_bytes' })
    if (result.kind !== 'exceeded') return
    expect(result.stdout.length + result.stderr.length).toBe(plain_limits.output_bytes)
  }),

  requirement('silence', 'with a limit of 0 output goes nowhere, and ends nothing', async ({ sandbox }) => {
    // The shell alone: a child that a busy machine refuses would be silent as well.
    const script = 'n=0; while [ $n -lt 50000 ]; do echo 0123456789; echo error >&2; n=$((n + 1)); done'
    const result = await sandbox.run(shell(script, { limits: { output_bytes: 0 } }))
    expect(result).toMatchObject({ kind: 'exited', code: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) })
  }),

  requirement('cancel', 'a command is cancelled before its start and during its run', async ({ sandbox }) => {
    expect(await sandbox.run(shell('exit 0'), AbortSignal.abort())).toEqual({ kind: 'cancelled' })
    const mark = uniqueSeconds()
    const stop = new AbortController()
    const ended = sandbox.run(shell(`sleep ${mark}`), stop.signal)
    await vi.waitFor(() => expect(isRunning(mark)).toBe(true), 60_000)
    stop.abort()
    expect(await ended).toEqual({ kind: 'cancelled' })
    await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
  }),

  requirement('left-behind', 'processes that a command leaves behind end with it', async ({ sandbox }) => {
    const mark = uniqueSeconds()
    expect(await sandbox.run(shell(`sleep ${mark} & exit 5`))).toMatchObject({ kind: 'exited', code: 5 })
    await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
  }),

  requirement('faults', 'what cannot be started is named, and nothing runs', async ({ sandbox, dir }) => {
    const at = (name: string) => path.join(dir, name)
    fs.writeFileSync(at('plain'), '#!/bin/sh\n', { mode: 0o644 })
    fs.symlinkSync(at('plain'), at('link'))
    const cases: [SandboxCommand, RegExp][] = [
      [{ ...shell(''), program: at('absent') }, /ENOENT/],
      [{ ...shell(''), program: at('plain') }, /EACCES/],
      [{ ...shell(''), program: dir }, /is not a program/],
      [{ ...shell(''), program: 'sh' }, /absolute path/],
      [shell('', { visible: ['/'] }), /absolute path/],
      [shell('', { visible: ['/proc/1'] }), /absolute path/],
      [shell('', { visible: ['/etc/../root'] }), /absolute path/],
      [shell('', { inputs: { a: at('nothing') } }), /ENOENT/],
      [shell('', { inputs: { a: at('link') } }), /ELOOP/],
      [shell('', { inputs: { a: dir } }), /not a regular file/],
      [shell('', { inputs: { '../a': at('plain') } }), /name of an input/],
      [shell('', { inputs: { '-rf': at('plain') } }), /name of an input/],
      [{ ...shell(''), args: [{ input: 'other' }] }, /not there/],
      [shell('', { inputs: Object.fromEntries(Array.from('abcdef', (name) => [name, at('plain')])) }), /at most 5/],
    ]
    for (const [command, why] of cases)
      expect(await sandbox.run(command)).toEqual({ kind: 'not_started', detail: expect.stringMatching(why) })
  }),

  requirement('many', 'commands run beside each other', async ({ sandbox }) => {
    const results = await Promise.all(Array.from({ length: 6 }, (_, at) => sandbox.run(shell(`exit ${at}`))))
    expect(results.map((result) => (result.kind === 'exited' ? result.code : result))).toEqual([0, 1, 2, 3, 4, 5])
  }),
]
