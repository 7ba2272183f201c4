// Everything that a DAG repository must keep, as data: each is run against all of it.
import { expect } from 'vitest'
import { dagFileName, listDagFileNames } from '../../daemon/shared/dag-repository/dag-file-name.ts'
import type { DagCheck, DagProposal, DagRepository } from '../../daemon/shared/dag-repository/dag-repository.ts'
import type { RepositoryLayout } from '../../daemon/shared/dag-repository/repository-layout.ts'
import { noon } from '../support/clock/simulated-clock.ts'

type RepositoryMethods = Omit<DagRepository, 'probe' | 'close'>

export type DagRepositoryWorld = {
  readonly repository: RepositoryMethods
  /** The same repository as another process has it. */
  readonly other: RepositoryMethods
  /** Ends the check of a proposal, where something outside performs it. */
  judge(proposal: DagProposal, check: Exclude<DagCheck, { state: 'pending' }>): Promise<void>
  /** The text of a file of the live branch. */
  readLive(path: string): Promise<string | undefined>
  /** Commits of the live branch. */
  countCommits(): Promise<number>
  /** A commit of the live branch by another program. */
  commitOutside(path: string, text: string): Promise<void>
}

/** A text that has this is rejected, in the line where it is. */
export const wrong_text = 'WRONG'
export const testLayout: RepositoryLayout = {
  ...{
    branch: 'main',
    dag_path: 'dags',
    test_path: 'tests',
    pending_path: 'waiting/pending',
    catalog_path: 'catalog.json',
  },
}

type DagRepositoryRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: DagRepositoryWorld) => Promise<void>
}

const requirement = (
  id: string,
  says: string,
  holds: DagRepositoryRequirement['verify'],
): DagRepositoryRequirement => ({
  id: `dag-repository/${id}`,
  description: says,
  verify: holds,
})

const note = { summary: 'Deploy a DAG', author: 'Olga <o@example.org>\n', now_ms: noon }

async function propose(repository: RepositoryMethods, uid: string, text: string, language: 'json' | 'py' = 'json') {
  const name = dagFileName({ uid, dag_id: 'daily' }, language)
  return { uid, name, commit: await repository.propose({ uid, name, text }, note) }
}

async function publish({ repository }: DagRepositoryWorld, uid: string, text: string, catalog = 'one\n') {
  const proposal = await propose(repository, uid, text)
  return { proposal, commit: await repository.publish(proposal, catalog, note) }
}

export const dagRepositoryRequirements: readonly DagRepositoryRequirement[] = [
  requirement('pending', 'has a proposal on a branch of its own, once, and not among live DAGs', async (world) => {
    const { repository, other } = world
    const proposal = await propose(repository, 'pl_pending', '{"pending": 1}\n')
    expect(proposal.commit).toMatch(/^[0-9a-f]{40}$/)
    expect(await repository.read(proposal.name)).toBeUndefined()
    expect(await propose(other, 'pl_pending', '{"pending": 1}\n')).toEqual(proposal)
    expect((await propose(other, 'pl_pending', '{"pending": 2}\n')).commit).not.toBe(proposal.commit)
  }),

  requirement(
    'again',
    'has another proposal of the same text for another deployment, and one for each',
    async (world) => {
      const { repository, other } = world
      const file = { uid: 'pl_again', name: dagFileName({ uid: 'pl_again', dag_id: 'daily' }, 'json') }
      const proposeAs = (by: RepositoryMethods, summary: string) =>
        by.propose({ ...file, text: '{}\n' }, { ...note, summary })
      const first = await proposeAs(repository, 'Propose daily, deployment 1')
      expect(await proposeAs(other, 'Propose daily, deployment 1')).toBe(first)
      const second = await proposeAs(other, 'Propose daily, deployment 2')
      expect(second).not.toBe(first)
      expect(await proposeAs(repository, 'Propose daily, deployment 2')).toBe(second)
      expect(await repository.publish({ ...file, commit: first }, 'one\n', note)).toBe('superseded')
      expect(await repository.publish({ ...file, commit: second }, 'one\n', note)).toMatch(/^[0-9a-f]{40}$/)
    },
  ),

  requirement('check', 'answers what the check found, with the line', async ({ repository, judge }) => {
    const good = await propose(repository, 'pl_good', '{"good": 1}\n')
    await judge(good, { state: 'passed' })
    expect(await repository.check(good)).toEqual({ state: 'passed' })
    const bad = await propose(repository, 'pl_bad', `{\n"bad": "${wrong_text}"\n}\n`)
    await judge(bad, { state: 'rejected', reason: 'the text is wrong', line: 2 })
    expect(await repository.check(bad)).toMatchObject({ state: 'rejected', reason: /the text is wrong/, line: 2 })
  }),

  requirement(
    'tests',
    'has the DAG of a journey test in the folder of tests alone',
    async ({ repository, readLive }) => {
      const of = { uid: 'pl_journey', dag_id: 'daily', isTest: true }
      const file = { uid: of.uid, name: dagFileName(of, 'json') }
      const commit = await repository.propose({ ...file, text: '{}\n' }, note)
      const published = await repository.publish({ ...file, commit }, 'one\n', note)
      expect(await repository.read(file.name)).toEqual({ text: '{}\n', commit: published })
      expect(await readLive(`tests/${file.name}`)).toBe('{}\n')
      expect(await readLive(`dags/${file.name}`)).toBeUndefined()
      await repository.remove(of.uid, listDagFileNames(of), note)
      expect(await repository.read(file.name)).toBeUndefined()
    },
  ),

  requirement('publish', 'publishes a DAG with the catalog in one commit, and once', async (world) => {
    const { repository, other, readLive, countCommits } = world
    const before = await countCommits()
    const { proposal, commit } = await publish(world, 'pl_live', '{"é": 1}\r\n', 'catalog of live\n')
    expect(await repository.read(proposal.name)).toEqual({ text: '{"é": 1}\r\n', commit })
    expect(await readLive(`dags/${proposal.name}`)).toBe('{"é": 1}\r\n')
    expect(await readLive('catalog.json')).toBe('catalog of live\n')
    expect(await countCommits()).toBe(before + 1)
    for (const each of [other, repository]) expect(await each.publish(proposal, 'catalog of live\n', note)).toBe(commit)
    expect(await countCommits()).toBe(before + 1)
  }),

  requirement('same', 'makes no commit for a DAG that is live already', async (world) => {
    const { commit } = await publish(world, 'pl_same', '{}\n')
    const before = await world.countCommits()
    expect(await publish(world, 'pl_same', '{}\n')).toMatchObject({ commit })
    expect(await world.countCommits()).toBe(before)
  }),

  requirement('former', 'reads a DAG at a former commit, also once it is changed and removed', async (world) => {
    const { repository, other } = world
    const { commit: before } = await publish(world, 'pl_earlier', '{}\n')
    const { proposal, commit } = await publish(world, 'pl_former', '{"é": 1}\r\n')
    await publish(world, 'pl_former', '{"second": 2}\n')
    for (const each of [repository, other])
      expect(await each.read(proposal.name, commit)).toEqual({ text: '{"é": 1}\r\n', commit })
    await other.remove('pl_former', listDagFileNames({ uid: 'pl_former', dag_id: 'daily' }), note)
    expect(await repository.read(proposal.name)).toBeUndefined()
    expect(await repository.read(proposal.name, commit)).toEqual({ text: '{"é": 1}\r\n', commit })
    // A commit that does not have the DAG yet, and one that there is not.
    expect(await repository.read(proposal.name, before)).toBeUndefined()
    expect(await repository.read(proposal.name, 'f'.repeat(40))).toBeUndefined()
  }),

  requirement('superseded', 'publishes no proposal once a newer one is there, or is live', async (world) => {
    const { repository, other } = world
    const old = await propose(repository, 'pl_super', '{"old": 1}\n')
    const young = await propose(other, 'pl_super', '{"young": 1}\n')
    expect(await repository.publish(old, 'one\n', note)).toBe('superseded')
    const commit = await other.publish(young, 'one\n', note)
    expect(await repository.publish(old, 'one\n', note)).toBe('superseded')
    expect(await repository.read(old.name)).toEqual({ text: '{"young": 1}\n', commit })
  }),

  requirement('language', 'replaces the file of a DAG that changes its language', async (world) => {
    const { proposal: former } = await publish(world, 'pl_turn', '{}\n')
    const { repository } = world
    const next = await propose(repository, 'pl_turn', 'import airflow\n', 'py')
    const commit = await repository.publish(next, 'one\n', note)
    expect(await repository.read(former.name)).toBeUndefined()
    expect(await repository.read(next.name)).toEqual({ text: 'import airflow\n', commit })
  }),

  requirement('rejected', 'has no file of a rejected DAG beside the next one in another language', async (world) => {
    const { repository, judge } = world
    const rejected = await propose(repository, 'pl_tongue', `${wrong_text}\n`, 'py')
    await judge(rejected, { state: 'rejected', reason: 'the text is wrong', line: 1 })
    const next = await propose(repository, 'pl_tongue', '{}\n')
    expect(await repository.publish({ ...rejected, commit: next.commit }, 'one\n', note)).toBe('superseded')
    const commit = await repository.publish(next, 'one\n', note)
    expect(await repository.read(next.name)).toEqual({ text: '{}\n', commit })
    expect(await repository.read(rejected.name)).toBeUndefined()
  }),

  requirement('remove', 'removes what is live and what is pending of a DAG, and nothing else', async (world) => {
    const { repository, other } = world
    const { proposal: kept } = await publish(world, 'pl_kept', '{}\n')
    const { proposal } = await publish(world, 'pl_gone', '{}\n')
    const pending = await propose(repository, 'pl_gone', '{"again": 1}\n')
    const names = listDagFileNames({ uid: 'pl_gone', dag_id: 'daily' })
    await repository.remove('pl_gone', names, note)
    expect(await repository.read(proposal.name)).toBeUndefined()
    expect(await repository.publish(pending, 'one\n', note)).toBe('superseded')
    const before = await world.countCommits()
    await other.remove('pl_gone', names, note)
    await other.remove('pl_never', listDagFileNames({ uid: 'pl_never', dag_id: 'daily' }), note)
    expect(await world.countCommits()).toBe(before)
    expect(await repository.read(kept.name)).toMatchObject({ text: '{}\n' })
  }),

  requirement('large', 'keeps the largest content', async (world) => {
    const text = '\u20ac'.repeat(262_144)
    const { proposal, commit } = await publish(world, 'pl_large', text)
    expect(await world.repository.read(proposal.name)).toEqual({ text, commit })
  }),

  requirement('concurrent', 'loses no DAG of writers at the same time', async (world) => {
    const before = await world.countCommits()
    const uids = Array.from({ length: 8 }, (_, at) => `pl_crowd_${at}`)
    const commits = await Promise.all(
      uids.map(async (uid, at) => {
        const repository = at % 2 ? world.repository : world.other
        const proposal = await propose(repository, uid, `{"of": "${uid}"}\n`)
        return await repository.publish(proposal, 'crowd\n', note)
      }),
    )
    expect(new Set(commits).size).toBe(uids.length)
    for (const uid of uids)
      expect(await world.readLive(`dags/${dagFileName({ uid, dag_id: 'daily' }, 'json')}`)).toBe(`{"of": "${uid}"}\n`)
    expect(await world.countCommits()).toBe(before + uids.length)
  }),

  requirement('outside', 'keeps what other programs commit to the live branch', async (world) => {
    await publish(world, 'pl_near', '{}\n')
    await world.commitOutside('docs/README.md', 'ours\n')
    const { proposal } = await publish(world, 'pl_far', '{}\n')
    expect(await world.readLive('docs/README.md')).toBe('ours\n')
    expect(await world.repository.read(proposal.name)).toMatchObject({ text: '{}\n' })
  }),
]
