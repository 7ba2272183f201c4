// Opens the guidance layer: how it reads schedules of workflows.
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { hintScheduleParserPart } from '../../roles/gateway/guide/workflow/schedule-interval.ts'

export function openGuide(): readonly (readonly [string, unknown])[] {
  return [[hintScheduleParserPart.name, parseSchedule]]
}
