// Runs the local DAG repository against each requirement of DAG repositories; test/engines/gitea
// runs a git host against them.
import { execFileSync } from 'node:child_process'
import fs, { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { log } from 'isomorphic-git'
import { afterAll, expect, test } from 'vitest'
import { setBranch } from '../../adapters/dag-repository/local/branch-file.ts'
import { GitObjects } from '../../adapters/dag-repository/local/git-objects.ts'
import { LocalRepository } from '../../adapters/dag-repository/local/local-repository.ts'
import { takeLock } from '../../adapters/store/sqlite/lock.ts'
import type { DagCheck } from '../../daemon/shared/dag-repository/dag-repository.ts'
import { noon } from '../support/clock/simulated-clock.ts'
import { requires } from '../support/runner/requires.ts'
import { type DagRepositoryWorld, dagRepositoryRequirements, testLayout, wrong_text } from './dag-repository.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'dag-repository-'))
const gitdir = path.join(folder, 'dags.git')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function openLocal(): LocalRepository {
  return new LocalRepository({
    ...{ gitdir, layout: testLayout },
    takeLock: () => takeLock(path.join(folder, 'dags.lock'), folder),
    check: async ({ text }): Promise<DagCheck> => {
      const line = text.split('\n').findIndex((each) => each.includes(wrong_text)) + 1
      return line === 0 ? { state: 'passed' } : { state: 'rejected', reason: 'the text is wrong', line }
    },
  })
}

const objects = new GitObjects(gitdir)
const note = { summary: 'Outside', author: 'another program', now_ms: noon }
const world: DagRepositoryWorld = {
  ...{ repository: openLocal(), other: openLocal() },
  judge: async () => undefined,
  async readLive(file) {
    return await objects.findText((await objects.findHead('main')) ?? '', file)
  },
  async countCommits() {
    if (!(await objects.findHead('main'))) return 0
    return (await log({ fs, gitdir, ref: 'main' })).length
  },
  async commitOutside(file, text) {
    await setBranch(gitdir, 'main', await objects.commit(await objects.findHead('main'), new Map([[file, text]]), note))
  },
}

for (const { id, description, verify } of dagRepositoryRequirements)
  test(`local: ${description} (${id})`, async () => await verify(world))

const lock = path.join(gitdir, 'refs/heads/main.lock')

test('a lock that a crash has left holds nothing up, and that of a git program is respected', async () => {
  writeFileSync(lock, 'platform\n')
  const name = 'daily.pl_lock.json'
  const proposal = { uid: 'pl_lock', name, commit: '' }
  const commit = await world.repository.propose({ ...proposal, text: '{}\n' }, note)
  expect(await world.repository.publish({ ...proposal, commit }, 'one\n', note)).toMatch(/^[0-9a-f]{40}$/)
  expect(existsSync(lock)).toBe(false)
  const changed = await world.repository.propose({ ...proposal, text: '{"more": 1}\n' }, note)
  const before = await world.countCommits()
  // A git program holds the branch, and lets it go once the publication waits for it.
  writeFileSync(lock, '')
  const published = world.other.publish({ ...proposal, commit: changed }, 'one\n', note)
  expect(await Promise.race([published, world.repository.read(name)])).toMatchObject({ text: '{}\n' })
  expect(await world.countCommits()).toBe(before)
  rmSync(lock)
  expect(await published).toMatch(/^[0-9a-f]{40}$/)
})

requires('git')('git programs find nothing wrong, clone it and see who published what', async () => {
  const git = (...words: readonly string[]) => execFileSync('git', ['-C', gitdir, ...words], { encoding: 'utf8' })
  expect(execFileSync('git', ['-C', gitdir, 'fsck', '--strict', '--full'], { encoding: 'utf8' })).not.toMatch(
    /error|missing|warning/,
  )
  execFileSync('git', ['clone', '--quiet', gitdir, path.join(folder, 'clone')])
  expect(existsSync(path.join(folder, 'clone/catalog.json'))).toBe(true)
  expect(git('log', '-1', '--format=%an|%ae|%s', '--grep', 'Deploy', 'main')).toBe(
    'Olga  o@example.org||Deploy a DAG\n',
  )
  // No git program packs it by itself.
  expect(git('config', 'gc.auto')).toBe('0\n')
  // What git packs is read as before, and removed as before.
  git('gc', '--quiet', '--prune=now')
  const { repository } = world
  expect(await repository.read('daily.pl_kept.json')).toMatchObject({ text: '{}\n' })
  const former = git('log', '-1', '--format=%H', '--diff-filter=A', 'main', '--', 'dags/daily.pl_former.json').trim()
  expect(await repository.read('daily.pl_former.json', former)).toMatchObject({ text: '{"é": 1}\r\n' })
  await repository.remove('pl_pending', ['daily.pl_pending.json'], note)
  expect(git('branch', '--list', 'pending/*')).not.toContain('pl_pending')
  git('fsck', '--strict', '--full')
})
