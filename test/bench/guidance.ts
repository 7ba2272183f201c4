// Measures the guidance layer: how soon changes of outcomes are found, and how much of what it learns helps.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ChangeDetector } from '../../daemon/roles/gateway/guide/drift/change-detector.ts'
import { computeMedian, type Figure } from '../support/bench/figure.ts'
import { type OutcomeStream, scoreDetection } from '../support/guide/detection-score.ts'
import { harmfulArtifact } from '../support/guide/harmful-artifact.ts'
import { runExperiment, runWithoutLayer } from '../support/guide/learning-experiment.ts'
import { startObservationGateway } from '../support/guide/observation-load.ts'

/** Of ADWIN with its defaults (river 0.26.1) on these streams, by the rules of `scoreDetection`: the goals. */
const adwin = { f1: 0.98, falseAlarmsPer10k: 0.43, delay: 209 }

/** GUIDE_DRIFT_DATA names the folder with `streams.jsonl.gz`: a JSON line for each stream, with its `changes` and `bits`. */
export async function bench(report: (figure: Figure) => void): Promise<void> {
  await measureLearning(report)
  measureDrift(report)
  await measureObservations(report)
}

/** Twice as many as come at once, so that the second load finds a full queue. */
const queue_maxsize = 20_000
/** Of a payload with a text that is cut nowhere: with as many, the queue is full by its bytes. */
const long_text = 'x'.repeat(8_000)

async function measureObservations(report: (figure: Figure) => void): Promise<void> {
  const gateway = await startObservationGateway(queue_maxsize)
  try {
    await gateway.drain()
    const started = performance.now()
    const fitting = await gateway.send(queue_maxsize, 250, 'list the ships of the north')
    const stored = await gateway.drain()
    const elapsed_s = (performance.now() - started) / 1_000
    report({ figure: 'observations stored', value: stored / elapsed_s, unit: '1/s', atLeast: 5_000 })
    report({ figure: 'observations lost', value: queue_maxsize - stored + fitting.dropped, unit: '', atMost: 0 })
    const before = gateway.memory()
    const beyond = await gateway.send(queue_maxsize * 2, 100, long_text)
    const peak = gateway.memory().peak_mb
    const all = await gateway.drain()
    report({ figure: 'memory, queue full', value: peak, unit: 'MB', beside: before.now_mb })
    report({ figure: 'dropped when full', value: beyond.dropped, unit: '', atLeast: 1 })
    const uncounted = Math.abs(queue_maxsize * 2 - beyond.accepted - beyond.dropped)
    report({ figure: 'neither counted', value: uncounted, unit: '', atMost: 0 })
    report({ figure: 'accepted and lost', value: beyond.accepted - (all - stored), unit: '', atMost: 0 })
  } finally {
    await gateway.end()
  }
}

function measureDrift(report: (figure: Figure) => void): void {
  const file = path.join(process.env.GUIDE_DRIFT_DATA ?? '', 'streams.jsonl.gz')
  if (!existsSync(file)) {
    process.stderr.write('SKIPPED: drift: GUIDE_DRIFT_DATA must name the folder of the labelled streams\n')
    return
  }
  const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n')
  const streams = lines.map((line): OutcomeStream => JSON.parse(line))
  const outcomes = streams.reduce((sum, { bits }) => sum + bits.length, 0)
  const started = performance.now()
  const found = scoreDetection(streams, listAlarms)
  const elapsed_ms = performance.now() - started
  report({ figure: 'drift F1', value: found.f1, unit: '', beside: adwin.f1, atLeast: adwin.f1 })
  const falseAlarms = { value: found.falseAlarmsPer10k, beside: adwin.falseAlarmsPer10k }
  report({ figure: 'drift false alarms', ...falseAlarms, unit: '/10k', atMost: adwin.falseAlarmsPer10k })
  const delay = { value: computeMedian(found.delays), beside: adwin.delay }
  report({ figure: 'drift delay', ...delay, unit: 'outcomes', atMost: adwin.delay })
  report({ figure: 'drift time', value: (elapsed_ms * 1_000) / outcomes, unit: 'us', atMost: 50 })
  const always = scoreDetection(streams, (bits) => Array.from({ length: bits.length / 100 }, (_, at) => at * 100 + 99))
  report({ figure: 'always alarming F1', value: always.f1, unit: '' })
  report({ figure: 'always alarming false', value: always.falseAlarmsPer10k, unit: '/10k' })
}

function listAlarms(bits: string): number[] {
  const detector = new ChangeDetector()
  const alarms: number[] = []
  for (let at = 0; at < bits.length; at += 1) if (detector.add(bits[at] === '1')) alarms.push(at)
  return alarms
}

const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
const sizes = { training: 400, traces: 400 }
/** By which what was learnt offline raises the success rate of the agent, with every seed. */
const least_uplift = 0.25
/** Traces that a harmful artifact is eligible for, until it is demoted: half of them go without it. */
const harm_budget = 16

async function measureLearning(report: (figure: Figure) => void): Promise<void> {
  const rateOf = (successes: readonly boolean[]) => successes.filter(Boolean).length / successes.length
  const off = seeds.map((seed) => rateOf(runWithoutLayer({ seed, ...sizes, isAttachEnabled: false })))
  const on: number[] = []
  const after: number[] = []
  let unchanged = 0
  for (const seed of seeds) {
    on.push(rateOf((await runExperiment({ seed, ...sizes, isAttachEnabled: true })).successes))
    const planted = { seed, training: 100, traces: 200, planted: harmfulArtifact, tracesPerRun: 1 }
    const { planted_traces = planted.traces } = await runExperiment({ ...planted, isAttachEnabled: true })
    after.push(planted_traces)
    const silent = { ...planted, ...sizes, tracesPerRun: 50, isAttachEnabled: false }
    const { successes } = await runExperiment(silent)
    if (runWithoutLayer(silent).every((isSuccess, at) => isSuccess === successes[at])) unchanged += 1
  }
  const uplifts = on.map((rate, at) => rate - (off[at] ?? rate))
  report({ figure: 'success without', value: computeMedian(off), unit: '' })
  report({ figure: 'success with', value: computeMedian(on), unit: '' })
  report({ figure: 'least uplift of 10', value: Math.min(...uplifts), unit: '', atLeast: least_uplift })
  report({ figure: 'harm demoted after', value: Math.max(...after), unit: 'traces', atMost: harm_budget })
  report({ figure: 'unchanged when off', value: unchanged / seeds.length, unit: '', atLeast: 1 })
}
