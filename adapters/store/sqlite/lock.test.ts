// Holds the lock between real processes: one holder at a time, free when it lets go or dies, kept when others look.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { repositoryRoot } from '../../../test/support/repository/source-tree.ts'
import { takeLock } from './lock.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'lock-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const children: ChildProcess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) await endProcess(child)
})

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** Another process that tries for the lock, says what came of it, and stays. */
async function startLockProcess(file: string): Promise<{ found: string; child: ChildProcess }> {
  const module = path.join(repositoryRoot, 'adapters/store/sqlite/lock.ts')
  const code = `const { takeLock } = await import(process.argv[1])
    console.log(takeLock(process.argv[2], process.argv[3]) ? 'taken' : 'held')
    globalThis.gc()
    process.stdin.resume()`
  const node = path.join(repositoryRoot, 'node_modules/.bin/node')
  const child = spawn(node, ['--expose-gc', '--input-type=module', '-e', code, module, file, dir], { stdio: 'pipe' })
  children.push(child)
  const [said] = await once(child.stdout, 'data')
  return { found: String(said).trim(), child }
}

test('while one process has it, no other gets it; when that one dies, the next does', async () => {
  const file = path.join(dir, 'role.lock')
  const holder = await startLockProcess(file)
  expect(holder.found).toBe('taken')
  expect(takeLock(file, dir)).toBeUndefined()
  expect((await startLockProcess(file)).found).toBe('held')
  await endProcess(holder.child)
  const lock = takeLock(file, dir)
  expect(lock).toBeDefined()
  expect((await startLockProcess(file)).found).toBe('held')
  lock?.release()
  expect((await startLockProcess(file)).found).toBe('taken')
})

test('asking again in the process that has it does not lose it to another', async () => {
  const file = path.join(dir, 'again.lock')
  const lock = takeLock(file, dir)
  expect(lock).toBeDefined()
  expect(takeLock(file, dir)).toBeUndefined()
  expect(takeLock(file, dir)).toBeUndefined()
  expect((await startLockProcess(file)).found).toBe('held')
  lock?.release()
})

test('it is closed to others, also where it was not', () => {
  const file = path.join(dir, 'mode.lock')
  writeFileSync(file, '', { mode: 0o644 })
  const lock = takeLock(file, dir)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  lock?.release()
})

test('what is no lock is no lock that is held', () => {
  const file = path.join(dir, 'garbage.lock')
  writeFileSync(file, 'x'.repeat(8_192))
  expect(() => takeLock(file, dir)).toThrow(/not a database/)
})
