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
  }, undefined)
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
  expect(await judgeStatuses(async (page) => endless(page), undefined)).toMatchObject({ state: 'pending' })
  expect(await judgeStatuses(async () => endless(1), undefined)).toEqual({ state: 'passed' })
})

test('the check that the site names decides alone, wherever it is, and is waited for', async () => {
  const many = (page: number) => Array.from({ length: 50 }, (_, at) => status(`job ${page} ${at}`, 'failure'))
  const judgeNamed = (...outcomes: HostStatus['outcome'][]) =>
    judgeStatuses(
      async (page) => [...many(page), ...outcomes.slice(page - 1, page).map((each) => status('dags', each))],
      'dags',
    )
  expect(await judgeNamed('success')).toEqual({ state: 'passed' })
  expect(await judgeNamed('waiting')).toEqual({ state: 'pending', reason: 'the CI has not ended' })
  expect(await judgeNamed('harmless')).toMatchObject({ state: 'pending', reason: /no success/ })
  expect(await judgeNamed('failure')).toMatchObject({ state: 'rejected', reason: 'dags: ' })
  expect(await judgeNamed()).toMatchObject({ state: 'pending', reason: /more statuses than are read/ })
  const other = [status('Dags', 'success'), status('dags ', 'success')]
  expect(await judgeStatuses(async () => other, 'dags')).toEqual({
    ...{ state: 'pending', reason: 'the check dags has not reported on the commit' },
  })
})
