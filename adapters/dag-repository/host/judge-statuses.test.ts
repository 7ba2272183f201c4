// The result of several statuses of a commit.
import { expect, test } from 'vitest'
import { type HostStatus, judgeStatuses } from './judge-statuses.ts'

const status = (name: string, outcome: HostStatus['outcome'], description = ''): HostStatus => ({
  ...{ name, outcome, description },
})

async function judge(...pages: readonly (readonly HostStatus[])[]) {
  const read: number[] = []
  const check = await judgeStatuses(async (page) => {
    read.push(page)
    return pages[page - 1] ?? []
  })
  return { ...check, pages: read.length }
}

test.each([
  ['nothing', [], 'pending'],
  ['success', ['success'], 'passed'],
  ['success beside what is skipped', ['harmless', 'success'], 'passed'],
  ['what is skipped alone', ['harmless', 'harmless'], 'pending'],
  ['success beside what runs', ['success', 'waiting'], 'pending'],
  ['a failure beside what runs', ['success', 'waiting', 'failure'], 'rejected'],
] as const)('%s: %j is %s', async (_, outcomes, state) => {
  const statuses = outcomes.map((outcome, at) => status(`job ${at}`, outcome))
  expect(await judge(statuses)).toMatchObject({ state })
})

test('statuses behind full pages count', async () => {
  const full = (page: number) => Array.from({ length: 100 }, (_, at) => status(`job ${page} ${at}`, 'success'))
  expect(await judge(full(1), full(2))).toMatchObject({ state: 'passed', pages: 3 })
  expect(await judge(full(1), full(2), [status('slow', 'waiting')])).toMatchObject({ state: 'pending' })
  const failed = status('dags', 'failure', 'in daily.json:7')
  expect(await judge(full(1), [failed])).toMatchObject({ state: 'rejected', reason: 'dags: in daily.json:7', line: 7 })
})

test('a commit with statuses without end waits, and a host that has one page for all is read once', async () => {
  const endless = (page: number) => [status(`job ${page}`, 'success')]
  expect(await judgeStatuses(async (page) => endless(page))).toMatchObject({ state: 'pending' })
  expect(await judgeStatuses(async () => endless(1))).toEqual({ state: 'passed' })
})
