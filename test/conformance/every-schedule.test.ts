// Runs the parser of schedules against each requirement.
import { describe, test } from 'vitest'
import { parseSchedule } from '../../adapters/host/schedule/cron.ts'
import { scheduleRequirements } from './schedule.ts'

describe('croner', () => {
  for (const { id, description, verify } of scheduleRequirements) {
    test(`${id}: ${description}`, () => verify(parseSchedule))
  }
})
