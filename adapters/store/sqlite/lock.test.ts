// The lock between real processes: one holder at a time, free after release or death, kept when others try it.
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

/** Starts a process that tries to take the lock, prints the result, and stays. */
async function startLockProcess(file: string): Promise<{ result: string; child: ChildProcess }> {
  const module = path.join(repositoryRoot, 'adapters/store/sqlite/lock.ts')
  const code = `const { takeLock } = await import(process.argv[1])
    console.log(takeLock(process.argv[2], process.argv[3]) ? 'taken' : 'held')
    globalThis.gc()
    process.stdin.resume()`
  const node = path.join(repositoryRoot, 'node_modules/.bin/node')
  const child = spawn(node, ['--expose-gc', '--input-type=module', '-e', code, module, file, dir], { stdio: 'pipe' })
  children.push(child)
  const [output] = await once(child.stdout, 'data')
  return { result: String(output).trim(), child }
}

test('a lock has one holder; another process takes it when the holder dies', async () => {
  const file = path.join(dir, 'role.lock')
  const holder = await startLockProcess(file)
  expect(holder.result).toBe('taken')
  expect(takeLock(file, dir)).toBeUndefined()
  expect((await startLockProcess(file)).result).toBe('held')
  await endProcess(holder.child)
  const lock = takeLock(file, dir)
  expect(lock).toBeDefined()
  expect((await startLockProcess(file)).result).toBe('held')
  lock?.release()
  expect((await startLockProcess(file)).result).toBe('taken')
})

test('a second attempt in the holding process keeps the lock', async () => {
  const file = path.join(dir, 'again.lock')
  const lock = takeLock(file, dir)
  expect(lock).toBeDefined()
  expect(takeLock(file, dir)).toBeUndefined()
  expect(takeLock(file, dir)).toBeUndefined()
  expect((await startLockProcess(file)).result).toBe('held')
  lock?.release()
})

test('the lock file gets mode 0600, also when it existed with another mode', () => {
  const file = path.join(dir, 'mode.lock')
  writeFileSync(file, '', { mode: 0o644 })
  const lock = takeLock(file, dir)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  lock?.release()
})

test('a file that is not a lock throws instead of counting as held', () => {
  const file = path.join(dir, 'garbage.lock')
  writeFileSync(file, 'x'.repeat(8_192))
  expect(() => takeLock(file, dir)).toThrow(/not a database/)
})
