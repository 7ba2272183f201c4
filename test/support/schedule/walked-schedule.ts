// An independent reference for the times of schedules: a walk through every minute of a zone, one after the other.

/** A schedule as sets of values beside its expression; an absent set is an asterisk. */
export type SampleSchedule = {
  readonly expression: string
  readonly minutes: ReadonlySet<number> | undefined
  readonly hours: ReadonlySet<number> | undefined
  readonly days: ReadonlySet<number> | undefined
  readonly months: ReadonlySet<number> | undefined
  readonly weekdays: ReadonlySet<number> | undefined
}

const minute_ms = 60_000

/** A minute as a clock of the zone shows it. */
type ShownMinute = {
  readonly instant: number
  readonly minute: number
  readonly hour: number
  readonly day: number
  readonly month: number
  readonly weekday: number
  /** Orders readings; minutes since 1970 on that clock. */
  readonly order: number
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** Every minute of a stretch of time in UTC, or one in each step, as clocks of the zone show it. */
export function walkMinutes(zone: string, from: number, to: number, step_ms = minute_ms): ShownMinute[] {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', weekday: 'short', year: 'numeric', month: 'numeric' },
    ...{ day: 'numeric', hour: 'numeric', minute: 'numeric' },
  })
  const shown: ShownMinute[] = []
  for (let instant = from; instant < to; instant += step_ms) {
    // Fri, 1/2/2026, 03:04
    const [, name = '', ...texts] = /^(\w+), (\d+)\/(\d+)\/(\d+), (\d+):(\d+)$/.exec(format.format(instant)) ?? []
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = texts.map(Number)
    const order = Date.UTC(year, month - 1, day, hour, minute) / minute_ms
    shown.push({ instant, minute, hour, day, month, weekday: weekdays.indexOf(name), order })
  }
  return shown
}

/** A time in each day in which clocks of the zone are changed. */
export function listChanges(zone: string, from: number, to: number): number[] {
  const offsets = walkMinutes(zone, from, to, 1_440 * minute_ms).map(({ instant, order }) => ({
    instant,
    offset: order - instant / minute_ms,
  }))
  return offsets.filter(({ offset }, at) => at > 0 && offset !== offsets[at - 1]?.offset).map(({ instant }) => instant)
}

/** The instants of a schedule within the walked minutes, by the rules of Vixie cron. */
export function listWalkedTimes(schedule: SampleSchedule, walked: readonly ShownMinute[]): number[] {
  const isPeriodic = !schedule.minutes || !schedule.hours
  const times: number[] = []
  let highest = (walked[0]?.order ?? 0) - 1
  for (const shown of walked) {
    if (isPeriodic ? matches(schedule, shown) : skippedUpTo(shown, highest).some((each) => matches(schedule, each)))
      times.push(shown.instant)
    highest = Math.max(highest, shown.order)
  }
  return times
}

/** Every minute that the clock reaches for the first time now: one, none where it repeats, many where it leaps. */
function skippedUpTo(shown: ShownMinute, highest: number): Omit<ShownMinute, 'instant'>[] {
  const reached = []
  for (let order = highest + 1; order <= shown.order; order++) {
    const at = new Date(order * minute_ms)
    reached.push({
      ...{ minute: at.getUTCMinutes(), hour: at.getUTCHours(), day: at.getUTCDate(), order },
      ...{ month: at.getUTCMonth() + 1, weekday: at.getUTCDay() },
    })
  }
  return reached
}

function matches(schedule: SampleSchedule, shown: Omit<ShownMinute, 'instant'>): boolean {
  const holds = (set: ReadonlySet<number> | undefined, value: number) => !set || set.has(value)
  const { minutes, hours, days, months, weekdays } = schedule
  const isDay =
    days && weekdays
      ? days.has(shown.day) || weekdays.has(shown.weekday)
      : holds(days, shown.day) && holds(weekdays, shown.weekday)
  return holds(minutes, shown.minute) && holds(hours, shown.hour) && holds(months, shown.month) && isDay
}
