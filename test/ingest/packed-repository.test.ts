// Git packs a local DAG repository while DAGs are published in it: no commit is lost, and no branch comes back.
import { execFile, execFileSync } from 'node:child_process'
import fs, { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { log } from 'isomorphic-git'
import { afterAll, expect } from 'vitest'
import { LocalRepository } from '../../adapters/dag-repository/local/local-repository.ts'
import { takeLock } from '../../adapters/store/sqlite/lock.ts'
import { testLayout } from '../conformance/dag-repository.ts'
import { requires } from '../support/runner/requires.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'packed-repository-'))
const gitdir = path.join(folder, 'dags.git')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const repository = new LocalRepository({
  ...{ gitdir, layout: testLayout },
  check: async () => ({ state: 'passed' }),
  takeLock: () => takeLock(path.join(folder, 'dags.lock'), folder),
})
const note = { summary: 'Deploy', author: 'olga', now_ms: 0 }

async function publish(at: number): Promise<string> {
  const file = { uid: `pl_${at}`, name: `daily.pl_${at}.json` }
  const commit = await repository.propose({ ...file, text: `{"at": ${at}}\n` }, note)
  return await repository.publish({ ...file, commit }, 'one\n', note)
}

/** A few times and not without end: publications would wait for a lock that git takes again at once. */
async function packBranches(): Promise<void> {
  for (let times = 0; times < 3; times++)
    await promisify(execFile)('git', ['-C', gitdir, 'pack-refs', '--all', '--prune'])
}

requires('git')('what is published while git packs branches stays', async () => {
  const commits = [await publish(0)]
  for (let at = 1; at <= 12; at++) {
    const [commit] = await Promise.all([publish(at), packBranches()])
    commits.push(commit)
  }
  const history = (await log({ fs, gitdir, ref: 'main' })).map(({ oid }) => oid)
  expect(history).toEqual(commits.toReversed())
  expect(execFileSync('git', ['-C', gitdir, 'branch', '--list', 'pending/*'], { encoding: 'utf8' })).toBe('')
  execFileSync('git', ['-C', gitdir, 'fsck', '--strict', '--full'])
})
