// Lists the folders in which records arrive, with the files that wait or cannot be taken.
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { formatTable, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve folders',
  summary: 'List the folders in which records arrive, and the files that wait there',
  notes: [
    'The folders of resolution.arrival_folders. LEFT counts entries that cannot be taken, such as links, files that the',
    'service may not read and names without the ending of a data file: each is listed with its reason. `resolve files` lists',
    'the files that were taken.',
  ].join('\n'),
  options: { ...serviceOptions },
  example: 'platform resolve folders',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const response = (await api.call('resolution.arrival-folder.list', {})) as FolderList
    printResult(terminal, params.json, response, () =>
      [
        formatTable(
          terminal,
          response.items,
          ['name', 'state', 'waiting', 'left', 'reading', 'detail'],
          'the profile names no folders',
        ),
        ...response.items.flatMap(({ name, left_files }) =>
          left_files.map(({ name: file, reason }) => `${name}: ${JSON.stringify(file)} is left: ${reason}`),
        ),
      ].join(line_break),
    )
    return 0
  },
})

type FolderList = {
  readonly items: readonly (Readonly<Record<string, unknown>> & {
    readonly name: string
    readonly left_files: readonly { readonly name: string; readonly reason: string }[]
  })[]
}
