// Performs one task of a DAG on a worker of a scheduler, and prints what it made.
import { offline } from '../../../daemon/offline/offline.ts'
import { readInputFile } from '../../file/input-file.ts'
import { jsonOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { duration, integer, nameList, required, text, withDefault } from '../../program/params.ts'
import { formatFields, printResult } from '../../terminal/output.ts'
import { createProgressFormatter, type ResolutionProgress } from '../../terminal/resolution-progress.ts'
import type { Terminal } from '../../terminal/terminal.ts'

export const definition = command({
  words: 'ingest step',
  summary: 'Perform one task of a pipeline on a worker',
  notes: [
    'Workers of Airflow call this for each try of a task of an assembled DAG. The code is that of the embedded',
    'scheduler, so that a task makes the same dataset on both.',
    '',
    'FILE is a JSON document: {"format": 1, "tenant_id": ..., "pipeline": ..., "run": ..., "task": a task of the DAG,',
    '"inputs": the "dataset" of the results of the tasks before it, "connection": for a task that reads by one}. It may hold',
    'a secret: send it by stdin, or as a private file.',
    '',
    'DIR holds the datasets of all runs, and every worker has the same one. A try that is repeated finds what the one',
    'before it landed. The log goes to stderr. Exit code 1 if another try may succeed, 3 if it would fail in the same way.',
  ].join('\n'),
  positionals: { document: required(text('FILE', 'The step as JSON, or - for stdin')) },
  options: {
    folder: required(text('DIR', 'Folder of the datasets of runs')),
    dataFolder: text('DIR', 'Folder with data files, in one sub-folder for each tenant (default: none is read)'),
    outputFolder: text('DIR', 'Folder for files that tasks write (default: output in the folder of the datasets)'),
    trustedNetworks: nameList(
      'NETWORKS',
      'Private networks that connections may lead to, such as 10.1.2.0/24 (default: none)',
    ),
    memory: withDefault(512, integer('MB', 'Maximum memory of the task, in MB', 64, 16_384)),
    timeLimit: duration('TIME', 'Time limit (default: that of the task alone)'),
    ...jsonOption,
  },
  example: 'platform ingest step step.json --folder /srv/ingest --data-folder /srv/data --json',
  async run(params, terminal) {
    const { folder, dataFolder, outputFolder, trustedNetworks, memory, timeLimit, json } = params
    const document = await readDocument(params.document, terminal)
    const { performStep } = await offline.ingestStep()
    const stopping = new AbortController()
    const interrupt = () => stopping.abort(new CommandFailure(1, 'interrupted; nothing landed'))
    process.once('SIGINT', interrupt)
    process.once('SIGTERM', interrupt)
    const formatLine = createProgressFormatter(() => performance.now())
    try {
      const result = await performStep(
        {
          ...{ document, folder, dataFolder, outputFolder, trustedNetworks },
          ...{ memory_mb: memory, limit_s: timeLimit, signal: stopping.signal },
        },
        (progress) => terminal.progress(formatLine(progress as ResolutionProgress)),
      )
      terminal.progress('')
      for (const line of result.log.split('\n')) if (line !== '') terminal.note(line)
      printResult(terminal, json, result, () => formatStep(terminal, result))
      if (!result.failure) return 0
      return result.failure.is_final ? 3 : 1
    } finally {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
    }
  },
})

async function readDocument(file: string, terminal: Terminal): Promise<string> {
  if (file !== '-') return readInputFile(file)
  const document = await terminal.readInput()
  if (document === undefined)
    throw new CommandFailure(2, 'the step is read from stdin, which is a terminal', 'pipe the document to it')
  return document
}

type PerformStep = Awaited<ReturnType<typeof offline.ingestStep>>['performStep']

function formatStep(terminal: Terminal, { task, state, failure, lineage }: Awaited<ReturnType<PerformStep>>): string {
  const again = failure && (failure.is_final ? 'no: it would fail in the same way' : 'yes')
  return formatFields(terminal, {
    ...{ task, state, dataset: lineage?.dataset, file: lineage?.file },
    ...{ rows: lineage?.rows_out, rejects: lineage?.rejects, sha_256: lineage?.digest },
    ...{ try_again: again },
  })
}
