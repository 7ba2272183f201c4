// Each report of a change ends one wait, or all that wait; the first end of the reports counts.
import { expect, test } from 'vitest'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { ChangeWatch } from './change-watch.ts'

const forever = new AbortController().signal

/** What the wait has come to once everything that is due has run. */
async function outcomeOf(wait: Promise<string>): Promise<string> {
  const pending = new Promise<string>((resolve) => setImmediate(() => resolve('pending')))
  return await Promise.race([wait.catch(({ message }: Error) => message), pending])
}

test('changes before a wait are one, and end one wait', async () => {
  const watch = new ChangeWatch()
  for (let at = 0; at < 3; at += 1) watch.report('changed')
  expect(await outcomeOf(watch.wait(forever))).toBe('changed')
  expect(await outcomeOf(watch.wait(forever))).toBe('pending')
})

test('a change during waits ends all of them, and is not reported again', async () => {
  const watch = new ChangeWatch()
  const waits = [watch.wait(forever), watch.wait(forever)]
  watch.report('changed')
  expect(await Promise.all(waits.map(outcomeOf))).toEqual(['changed', 'changed'])
  expect(await outcomeOf(watch.wait(forever))).toBe('pending')
})

test.each<[string, Parameters<ChangeWatch['report']>[0][], string]>([
  ['an end', ['ended'], 'ended'],
  ['a change after the end', ['ended', 'changed'], 'ended'],
  ['a change before the end', ['changed', 'ended'], 'ended'],
  ['a failure', [refuse('unavailable', 'broken')], 'broken'],
  ['a failure after the end', ['ended', refuse('unavailable', 'broken')], 'ended'],
  ['an end after a failure', [refuse('unavailable', 'broken'), 'ended', 'changed'], 'broken'],
  ['no reports', ['unsupported', 'changed', 'ended'], 'unsupported'],
])('%s ends this wait and every later one', async (_, reports, outcome) => {
  const watch = new ChangeWatch()
  for (const report of reports) watch.report(report)
  for (let at = 0; at < 3; at += 1) expect(await outcomeOf(watch.wait(forever))).toBe(outcome)
})

test('a wait ends with its signal and no other, and a change meanwhile is left for the next one', async () => {
  const watch = new ChangeWatch()
  const ending = new AbortController()
  const [ended, other] = [watch.wait(ending.signal), watch.wait(forever)]
  ending.abort()
  expect(await outcomeOf(ended)).toBe('ended')
  expect(await outcomeOf(other)).toBe('pending')
  expect(await outcomeOf(watch.wait(AbortSignal.abort()))).toBe('ended')
  watch.report('changed')
  expect(await outcomeOf(other)).toBe('changed')
})
