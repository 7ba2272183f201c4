// Ends this process at the fault point that a test selects. Only builds with fault points contain it.
import { writeSync } from 'node:fs'
import { type FaultPoint, faultPoints } from './fault-points.ts'

/** Defined by the build, or by a test of sources; otherwise undefined when running from sources. */
declare const HAS_FAULT_POINTS: boolean | undefined

// The build leaves out what stands behind this name itself, but not what stands behind a constant with its value.

/** Undefined in builds without fault points. */
export const faultStop: ((step: FaultPoint) => void) | undefined =
  typeof HAS_FAULT_POINTS !== 'undefined' && HAS_FAULT_POINTS
    ? buildFaultStop(process.env.PLATFORM_FAULT_POINT ?? '')
    : undefined

/** For threads, which have no environment: what their process was started with. */
export const faultPointSpec =
  typeof HAS_FAULT_POINTS !== 'undefined' && HAS_FAULT_POINTS ? process.env.PLATFORM_FAULT_POINT : undefined

/** Of a thread, by the specification of its process. */
export const openFaultStop: typeof buildFaultStop | undefined =
  typeof HAS_FAULT_POINTS === 'undefined' || HAS_FAULT_POINTS ? buildFaultStop : undefined

/** `name` or `name:occurrence`; empty for none. SIGKILL ends the process, so nothing is flushed. */
function buildFaultStop(spec: string): ((step: FaultPoint) => void) | undefined {
  if (spec === '') return undefined
  const [name, occurrence = '1'] = spec.split(':')
  if (!faultPoints.some((point) => point === name))
    throw new Error(`unknown fault point ${name}; known: ${faultPoints.join(', ')}`)
  let remaining = Number(occurrence)
  return (step) => {
    if (step !== name) return
    remaining -= 1
    if (remaining > 0) return
    writeSync(2, `fault point ${spec}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
}
