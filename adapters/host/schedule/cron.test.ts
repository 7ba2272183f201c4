// Holds the schedule to UTC, to its end, and to times that passed while nobody could look.
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
])('whether "%s" is a schedule: %s', (expression, expected) => {
  expect(isCron(expression)).toBe(expected)
})

test('what is none cannot be run', () => {
  expect(() => runOnSchedule('every night', () => undefined)).toThrow()
})

function startNightlyTask() {
  vi.useFakeTimers({ now: Date.parse('2026-03-02T02:29:00Z') })
  const ran: string[] = []
  const { stop } = runOnSchedule('30 2 * * *', () => void ran.push(new Date().toISOString().slice(0, 16)))
  return { ran, stop }
}

test('it runs at its times in UTC, until it is stopped', async () => {
  const { ran, stop } = startNightlyTask()
  await vi.advanceTimersByTimeAsync(3 * 86_400_000)
  expect(ran).toEqual(['2026-03-02T02:30', '2026-03-03T02:30', '2026-03-04T02:30'])
  stop()
  await vi.advanceTimersByTimeAsync(2 * 86_400_000)
  expect(ran).toHaveLength(3)
})

test('a time that passed while the machine slept is made up for, and nothing is said outside the log', async () => {
  const said = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const { ran, stop } = startNightlyTask()
  vi.setSystemTime(Date.parse('2026-03-02T05:00:00Z'))
  await vi.advanceTimersByTimeAsync(90_000)
  expect(ran).toEqual([expect.stringMatching(/^2026-03-02T05:0/)])
  expect(said).not.toHaveBeenCalled()
  stop()
})
