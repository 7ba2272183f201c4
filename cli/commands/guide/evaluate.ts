// Measures the guidance layer on recorded traces, offline; or records the traces of a running gateway.
import { offline } from '../../../daemon/offline/offline.ts'
import { recordTraces } from '../../client/record-traces.ts'
import { formatReplayReport } from '../../format/replay-report.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { decimal, duration, flag, instant, nameList, rest, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'
import { createDeadline } from '../../terminal/resolution-progress.ts'

export const definition = command({
  words: 'guide evaluate',
  summary: 'Measure the guidance layer on recorded traces, offline',
  notes: [
    'Replays the traces in simulated time, through the code of the gateway, over a store that is removed at the end. Each',
    'trace is measured by what was learnt before it began. FILE has a JSON document a line: observations and lineage, as',
    '--record writes them from the running gateway, or lines of `{"change_at": TIME, "tool": "SERVICE/TOOL"}` for changes',
    'whose detection is measured. Figures of success with and without guidance need lineage, of a site with the hold-out.',
  ].join('\n'),
  positionals: { files: rest('FILE', 'Recorded traces, oldest first (default: none, for --record)') },
  options: {
    record: text('FILE', 'File to create with the traces of the running gateway, instead of measuring (default: none)'),
    since: instant('TIME', 'With --record: observations of this time or later (default: all)'),
    learnUntil: instant(
      'TIME',
      'Measure traces after this time alone, by what was learnt before it (default: all traces)',
    ),
    trainShare: decimal('SHARE', 'The same, after this share of the observations (default: none)', 0, 1),
    levels: nameList('LEVELS', 'Levels of labels in the traces, lowest first (default: those of a new site)'),
    keepGoing: flag('Leave out bad lines, and count them'),
    timeLimit: duration('TIME', 'Time after which what was read so far is reported (default: none)'),
    ...serviceOptions,
  },
  example: 'platform guide evaluate traces.jsonl --train-share 0.5',
  async run(params, terminal) {
    const { files, record, since, learnUntil: learn_until, trainShare: train_share, json } = params
    if (record !== undefined) {
      if (files.length > 0) throw new CommandFailure(2, '--record writes a file, and reads none')
      const recorded = await recordTraces(await connectService(params, terminal), { file: record, since }, terminal)
      printResult(terminal, json, recorded, () => `Recorded ${recorded.lines} lines in ${record}`)
      return 0
    }
    if (files.length === 0) throw new CommandFailure(2, 'a FILE of recorded traces is missing', 'make one by --record')
    if (learn_until !== undefined && train_share !== undefined)
      throw new CommandFailure(2, 'only one of --learn-until and --train-share is allowed')
    const { evaluateTraces } = await offline.traceEvaluation()
    const isLate = createDeadline(params.timeLimit, () => performance.now())
    let isInterrupted = false
    const interrupt = () => {
      isInterrupted = true
    }
    process.once('SIGINT', interrupt)
    process.once('SIGTERM', interrupt)
    try {
      const levels = params.levels.length > 0 ? params.levels : undefined
      const report = await evaluateTraces(
        {
          ...{ files, learn_until, train_share, levels, keepsGoing: params.keepGoing },
          findEnd: () => (isInterrupted ? 'interrupted' : isLate() ? 'time_limit' : undefined),
        },
        ({ observations, traces, artifacts }) =>
          terminal.progress(`${observations} observations, ${traces} traces, ${artifacts} active artifacts`),
      )
      terminal.progress('')
      printResult(terminal, json, report, () => formatReplayReport(terminal, report))
      return report.ended === 'end_of_input' ? 0 : 1
    } finally {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
    }
  },
})
