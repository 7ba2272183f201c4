// Names of time zones that settings and requests may have.
import { expect, test } from 'vitest'
import { timeZone } from './time-zone.ts'

test.each([
  ['UTC', true],
  ['Europe/Berlin', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Etc/GMT+5', true],
  ['', false],
  ['Mars/Olympus', false],
  ['+01:00', false],
  ['localtime', false],
  ['../etc/localtime', false],
  ['Europe/Berlin\n', false],
  ['Europe/Berlin ', false],
  ['x'.repeat(65), false],
])('%j is a time zone: %s', (name, expected) => {
  expect(timeZone.safeParse(name).success).toBe(expected)
})
