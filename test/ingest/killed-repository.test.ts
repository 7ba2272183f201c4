// Processes that publish in one local DAG repository are killed at any moment: what they have acknowledged stays, and nothing is torn.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { log } from 'isomorphic-git'
import { afterAll, expect, test } from 'vitest'
import { GitObjects } from '../../adapters/dag-repository/local/git-objects.ts'
import { nodeProgram } from '../support/command/run-command-process.ts'
import { isOnPath } from '../support/runner/requires.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'killed-repository-'))
const gitdir = path.join(folder, 'dags.git')
const program = path.resolve(import.meta.dirname, '../support/ingest/publish-dags.mjs')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Resolves with what the process has acknowledged, once it has been killed after so many lines. */
async function publishUntilKilled(writer: string, lines: number): Promise<string[]> {
  const child = spawn(nodeProgram, [program, folder, writer], { stdio: ['ignore', 'pipe', 'inherit'] })
  const acknowledged: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line)
    if (acknowledged.length === lines) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  expect(child.signalCode).toBe('SIGKILL')
  return acknowledged
}

test('every acknowledged commit is in the history, with its DAG, and the next process goes on', async () => {
  const acknowledged: string[] = []
  for (let round = 1; round <= 3; round++) {
    const pair = [publishUntilKilled(`a${round}`, round), publishUntilKilled(`b${round}`, 2 * round)]
    acknowledged.push(...(await Promise.all(pair)).flat())
  }
  const history = await log({ fs, gitdir, ref: 'main' })
  const objects = new GitObjects(gitdir)
  const head = history[0]?.oid ?? ''
  for (const line of acknowledged) {
    const [commit, name = ''] = line.split(' ')
    expect(history.map(({ oid }) => oid)).toContain(commit)
    expect(await objects.findText(head, `dags/${name}`)).toMatch(/^\{"at": \d+\}\n$/)
  }
  expect(new Set(history.map(({ commit }) => commit.message)).size).toBe(history.length)
  if (isOnPath('git')) execFileSync('git', ['-C', gitdir, 'fsck', '--strict', '--full'])
})
