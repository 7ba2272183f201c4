// Cron schedules: times in UTC, the stop, and times that passed while the machine was asleep.
import { afterEach, expect, test, vi } from 'vitest'
import { isCron, runOnSchedule } from './cron.ts'

afterEach(() => {
  vi.useRealTimers()
})

test.each([
  ['30 2 * * *', true],
  ['*/5 * * * *', true],
  ['0 30 2 * * 1-5', true],
  ['0 0 1 jan *', true],
  ['', false],
  ['every night', false],
  ['61 * * * *', false],
  ['* * * *', false],
  ['0 0 30 2 *', false],
])('"%s" is a valid schedule: %s', (expression, expected) => {
  expect(isCron(expression)).toBe(expected)
})

test('an invalid schedule throws', () => {
  expect(() => runOnSchedule('every night', () => undefined)).toThrow()
})

function startNightlyTask() {
  vi.useFakeTimers({ now: Date.parse('2026-03-02T02:29:00Z') })
  const runs: string[] = []
  const { stop } = runOnSchedule('30 2 * * *', () => void runs.push(new Date().toISOString().slice(0, 16)))
  return { runs, stop }
}

test('the task runs at its times in UTC, until it is stopped', async () => {
  const { runs, stop } = startNightlyTask()
  await vi.advanceTimersByTimeAsync(3 * 86_400_000)
  expect(runs).toEqual(['2026-03-02T02:30', '2026-03-03T02:30', '2026-03-04T02:30'])
  stop()
  await vi.advanceTimersByTimeAsync(2 * 86_400_000)
  expect(runs).toHaveLength(3)
})

test('a time that passed while the machine slept runs late, and nothing is written to the console', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const { runs, stop } = startNightlyTask()
  vi.setSystemTime(Date.parse('2026-03-02T05:00:00Z'))
  await vi.advanceTimersByTimeAsync(90_000)
  expect(runs).toEqual([expect.stringMatching(/^2026-03-02T05:0/)])
  expect(warn).not.toHaveBeenCalled()
  stop()
})
