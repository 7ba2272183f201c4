// The plan of an installation: what is there, what is missing, and what stands in the way.
import { expect, test } from 'vitest'
import type { InstallationItem } from './installation-items.ts'
import { isDone, planInstallation } from './installation-steps.ts'

const group: InstallationItem = { kind: 'group', name: 'platform' }
const link: InstallationItem = {
  kind: 'link',
  path: '/usr/local/bin/platform',
  target: '../lib/platform/current/platform',
}

test('each observation leads to one action, in the order of the items', () => {
  const steps = planInstallation(
    [
      { item: group, observation: { state: 'same' } },
      { item: link, observation: { state: 'absent' } },
      { item: link, observation: { state: 'different', detail: 'it leads elsewhere' } },
      { item: link, observation: { state: 'foreign', detail: 'it is a file', remedy: 'move it away' } },
    ],
    [],
  )
  expect(steps.map(({ action }) => action)).toEqual(['keep', 'create', 'change', 'blocked'])
  expect(steps[1]?.description).toBe('link /usr/local/bin/platform -> ../lib/platform/current/platform')
  expect(isDone(steps)).toBe(false)
  expect(isDone(steps.slice(0, 1))).toBe(true)
})

test('a former file is removed only if nobody changed it', () => {
  const former = (state: 'same' | 'absent') => ({ path: '/etc/x', observation: { state } })
  const changed = { path: '/etc/y', observation: { state: 'foreign', detail: 'changed', remedy: '' } } as const
  expect(planInstallation([], [former('same'), former('absent'), changed])).toMatchObject([
    { action: 'remove', path: '/etc/x' },
  ])
})
