// Loaded before the sources of a process that a test kills: it may end at a fault point, and its clock may be ahead.
const ahead_ms = Number(process.env.TEST_CLOCK_AHEAD_MS ?? 0)
const RealDate = Date

/** The time that leases and schedules read; the monotonic clock stays as it is. */
class AheadDate extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + ahead_ms)
    else super(...parts)
  }

  static now() {
    return RealDate.now() + ahead_ms
  }
}

Object.assign(globalThis, { HAS_FAULT_POINTS: true, ...(ahead_ms === 0 ? {} : { Date: AheadDate }) })
