// What a hostile command tries against the sandbox itself: outliving it, turning its housekeeping against the machine, and
// taking what no limit of a process counts.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect, vi } from 'vitest'
import {
  isolated,
  isRunning,
  listRunFolders,
  listRunning,
  mebibyte,
  plain_limits,
  readText,
  requirement,
  type SandboxRequirement,
  shell,
  uniqueSeconds,
} from './sandbox-requirement.ts'

/** Numbers of system calls, which a script of Perl makes by them. */
const [memfd_create, renameat2] = process.arch === 'arm64' ? [279, 276] : [319, 316]

/** Where neither root nor a control group can end what has left its group, `limits` do not promise it. */
const canEndAll = process.getuid?.() === 0
const contained = canEndAll ? requirement : isolated

export const sandboxAttacks: readonly SandboxRequirement[] = [
  contained('escape-of-group', 'a process that leaves its group and session ends with it', async ({ sandbox }) => {
    const mark = uniqueSeconds()
    const script = `setsid sh -c "trap '' TERM HUP; sleep ${mark}" >/dev/null 2>&1 & sleep 0.2; exit 0`
    expect(await sandbox.run(shell(script))).toMatchObject({ kind: 'exited', code: 0 })
    await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
  }),

  requirement(
    'held-output',
    'a run ends although a process that left it holds its output open',
    async ({ sandbox }) => {
      const mark = uniqueSeconds()
      expect(await sandbox.run(shell(`setsid sleep ${mark} & echo out; exit 3`))).toMatchObject({
        kind: 'exited',
        code: 3,
        stdout: Buffer.from('out\n'),
      })
      const late = sandbox.run(shell(`setsid sleep ${mark} & wait`, { limits: { time_ms: 2_000 } }))
      expect(await late).toMatchObject({ kind: 'exceeded', limit: 'time_ms' })
      if (canEndAll || sandbox.isolation === 'namespaces')
        await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
      else for (const pid of listRunning(mark)) process.kill(pid, 'SIGKILL')
    },
  ),

  contained(
    'endless-forks',
    'processes that fork and kill without end are gone after the run',
    async ({ sandbox, dir }) => {
      const mark = `forks-${uniqueSeconds()}`
      const program = path.join(dir, `${mark}.pl`)
      const script = `if (fork() == 0) { setpgrp(0, 0); while (1) { exit 0 if fork(); kill 9, -1 } } sleep 1`
      fs.writeFileSync(program, script)
      await sandbox.run(shell(`perl ${program}; exit 0`, { visible: [program], limits: { output_bytes: 0 } }))
      await vi.waitFor(() => expect(isRunning(mark)).toBe(false), 60_000)
    },
  ),

  requirement('removal', 'its folder is removed, and nothing that a link in it names', async ({ sandbox, dir }) => {
    const victim = path.join(dir, 'victim')
    const program = path.join(dir, 'swap.pl')
    fs.mkdirSync(victim, { mode: 0o700 })
    for (let at = 0; at < 50; at++) fs.writeFileSync(path.join(victim, `${at}`), 'of the site', { mode: 0o600 })
    fs.writeFileSync(program, buildSwap(victim))
    for (let run = 0; run < 4; run++)
      await sandbox.run(shell(`perl ${program}`, { visible: [program], limits: { output_bytes: 0 } }))
    expect(fs.readdirSync(victim)).toHaveLength(50)
    expect(listRunFolders()).toEqual([])
  }),

  requirement('hidden-folders', 'what it hides from reading is removed as well', async ({ sandbox }) => {
    const script =
      'mkdir -p "$HOME/a/b/c" && touch "$HOME/a/b/c/d" && cd / && chmod 0 "$HOME/a/b" "$HOME/a" "$HOME"; exit 0'
    expect(await sandbox.run(shell(script))).toMatchObject({ kind: 'exited', code: 0 })
    expect(listRunFolders()).toEqual([])
  }),

  requirement('memory-files', 'files in memory count as memory', async ({ sandbox, dir }) => {
    const program = path.join(dir, 'memfd.pl')
    const script = `my $bytes = "x" x (4 * 1048576);
for my $at (1 .. 25) { my $name = "f$at"; my $fd = syscall(${memfd_create}, $name, 0); open(my $f, ">&=", $fd) or die; syswrite($f, $bytes); push @kept, $f }
sleep 100`
    fs.writeFileSync(program, script)
    const limits = { memory_bytes: 256 * mebibyte }
    const result = await sandbox.run(shell(`${`perl ${program} &`.repeat(6)} wait`, { visible: [program], limits }))
    expect(result).toMatchObject({ kind: 'exceeded', limit: 'memory_bytes' })
  }),

  contained('memory-of-orphans', 'memory of processes without a parent counts as well', async ({ sandbox }) => {
    const one = `(perl -e '$x = "x" x ${100 * mebibyte}; sleep 100' &);`
    const limits = { memory_bytes: 300 * mebibyte }
    const result = await sandbox.run(shell(`${one.repeat(6)} sleep 100`, { limits }))
    expect(result).toMatchObject({ kind: 'exceeded', limit: 'memory_bytes' })
  }),

  requirement('queues', 'no message queue and no locked memory is made', async ({ sandbox }) => {
    const script = 'prlimit --msgqueue --memlock --rtprio -o HARD --noheadings'
    expect(
      readText(await sandbox.run(shell(script)))
        .trim()
        .split(/\s+/),
    ).toEqual(['0', '0', '0'])
  }),

  requirement('out-of-memory', 'the kernel ends it first when the machine has no memory left', async ({ sandbox }) => {
    expect(readText(await sandbox.run(shell('cat /proc/self/oom_score_adj')))).toBe('1000\n')
  }),

  isolated(
    'shared-memory',
    'no shared memory outlives its process, and the bound cannot be lifted',
    async ({ sandbox }) => {
      const script = `echo 4096 2>/dev/null >/proc/sys/kernel/shmmni; echo 9 2>/dev/null >/proc/sys/user/max_user_namespaces
perl -e 'print defined shmget(0, 4096, 0600 | 512) ? "made" : "none"'`
      const text = readText(await sandbox.run(shell(script)))
      if (!sandbox.shortfalls.some((shortfall) => shortfall.includes('System V'))) expect(text).toBe('none')
    },
  ),

  isolated('empty-files', 'files without content are counted', async ({ sandbox, dir }) => {
    const program = path.join(dir, 'files.pl')
    fs.writeFileSync(program, 'for (0 .. 100000) { open(my $f, ">", "f$_") or last; $n++ } print $n')
    const text = readText(await sandbox.run(shell(`cd "$HOME"; perl ${program}`, { visible: [program] })))
    expect(Number(text)).toBeLessThan(plain_limits.disk_bytes / 4_096 + 64)
  }),

  isolated('absent-path', 'a path that is absent is not created on the machine', async ({ sandbox, dir }) => {
    const shown = path.join(dir, 'shown')
    fs.mkdirSync(shown)
    fs.chmodSync(shown, 0o777)
    const result = await sandbox.run(shell('exit 0', { visible: [shown, path.join(shown, 'sub/data')] }))
    expect(result).toEqual({ kind: 'not_started', detail: expect.stringMatching(/sub\/data: ENOENT/) })
    expect(fs.readdirSync(shown)).toEqual([])
  }),

  requirement('unreadable-program', 'a program that its user may not run is not started', async ({ sandbox, dir }) => {
    const program = path.join(dir, 'private')
    fs.writeFileSync(program, '#!/bin/sh\nexit 1\n', { mode: process.getuid?.() === 0 ? 0o700 : 0o600 })
    const result = await sandbox.run({ ...shell(''), program, args: [] })
    expect(result).toEqual({ kind: 'not_started', detail: expect.stringMatching(/EACCES/) })
  }),
]

/** Swaps folders and links for six seconds beyond the end of the run. */
function buildSwap(victim: string): string {
  return `my $h = $ENV{HOME};
for my $k (1..30) { mkdir "$h/d$k"; mkdir "$h/d$k/x"; for my $i (1..30) { open(my $f, ">", "$h/d$k/x/$i") } symlink("${victim}", "$h/d$k/y"); }
if (fork() == 0) { require POSIX; POSIX::setsid(); my $e = time + 6;
  while (time < $e) { for my $k (1..30) { my $a = "$h/d$k/x\\0"; my $b = "$h/d$k/y\\0"; syscall(${renameat2}, -100, $a, -100, $b, 2) } } exit 0 }
select(undef, undef, undef, 0.3);`
}
