// Installs the product on this machine from one answers file.
import { resolve } from 'node:path'
import { type InstallationPlan, offline } from '../../daemon/offline/offline.ts'
import { jsonOption } from '../options/site-options.ts'
import { CommandFailure, command } from '../program/command.ts'
import { flag, text, withDefault } from '../program/params.ts'
import { formatTable, keepLayout, line_break, printResult } from '../terminal/output.ts'

export const definition = command({
  words: 'install',
  summary: 'Install the product: users, folders, units, man pages, site',
  notes: [
    'Run it as root. It reads one answers file and asks nothing. A repeat changes nothing; after an interruption a repeat goes on.',
    '--check exits with 0 if everything is installed as the answers say, and with 5 if not.',
  ].join('\n'),
  options: {
    answers: text('FILE', 'Answers file (default: /etc/platform/answers.yaml)'),
    plan: flag('Print the steps and change nothing'),
    check: flag('Print the steps that are left, change nothing, and exit with 5 if there are any'),
    schema: flag('Print the JSON Schema of the answers file'),
    overwrite: flag('Replace files that this installation did not make, or that were changed since'),
    bundle: text('DIR', 'Unpacked bundle to verify and install (default: this executable alone)'),
    keys: text('DIR', 'Release keys that you hold already (default: none; required with --bundle)'),
    root: withDefault('/', text('DIR', 'Folder that stands for / of the machine, such as that of an image')),
    ...jsonOption,
  },
  example: 'platform install --answers answers.yaml --plan',
  async run(params, terminal) {
    if (params.schema) {
      const { answersSchema } = await offline.installationAnswers()
      terminal.print(keepLayout(JSON.stringify(answersSchema(), undefined, params.json ? undefined : 2)))
      return 0
    }
    const { applyInstallation, planSiteInstallation } = await offline.installation()
    if (params.plan && params.check) throw new CommandFailure(2, '--plan and --check exclude each other')
    const bundle = locateBundle(params)
    const { renderCommandDocuments } = await import('../program/command-documents.ts')
    const documents = await renderCommandDocuments()
    const answers = params.answers === undefined ? undefined : resolve(params.answers)
    const request = { root: resolve(params.root), answers, documents, overwrites: params.overwrite, bundle }
    const plan = planSiteInstallation(request)
    const changesNothing = params.plan || params.check
    if (!changesNothing)
      applyInstallation(plan, (step) => {
        if (!params.json && !isManualPage(step)) terminal.note(`${step.action} ${step.description}`)
      })
    const left = plan.steps.filter(({ action }) => action !== 'keep')
    const shown = params.plan ? plan.steps : left
    const steps = shown.map(({ action, description, detail, remedy }) => ({
      action,
      step: description,
      detail,
      remedy,
    }))
    const kept = plan.steps.length - left.length
    printResult(terminal, params.json, { is_done: plan.is_done, kept, steps }, () => {
      if (plan.is_done) return 'everything is installed; nothing to change'
      if (!changesNothing)
        return [`${left.length} steps done, ${kept} were in place`, ...adviseRestart(left)].join(line_break)
      const rows = summarizeManual(shown)
      const columns = ['action', 'step', 'detail', 'remedy']
      return [formatTable(terminal, rows, columns, 'no steps'), `${left.length} steps to do, ${kept} in place`].join(
        line_break,
      )
    })
    return params.check && !plan.is_done ? 5 : 0
  },
})

function locateBundle({ bundle, keys }: { bundle: string | undefined; keys: string | undefined }) {
  if (bundle !== undefined && keys !== undefined) return { folder: resolve(bundle), keys: resolve(keys) }
  if (bundle === undefined && keys === undefined) return undefined
  throw new CommandFailure(2, '--bundle and --keys belong together', 'name the bundle, and the keys that verify it')
}

/** A role that runs keeps the settings of the unit with which it was started. */
function adviseRestart(steps: readonly ShownStep[]): string[] {
  const units = steps.flatMap(({ action, path }) =>
    action === 'change' ? (/[^/]+\.service$/.exec(path ?? '') ?? []) : [],
  )
  return units.length > 0 ? [`changed units take effect with: systemctl restart ${units.join(' ')}`] : []
}

type ShownStep = InstallationPlan['steps'][number]

function isManualPage({ action, path }: ShownStep): boolean {
  return action !== 'blocked' && /\/man1\/[^/]*$/.test(path ?? '')
}

/** A few hundred man pages are one row for each action; `--json` lists all. */
function summarizeManual(steps: readonly ShownStep[]) {
  const pages = steps.filter(isManualPage)
  const counts = [...new Set(pages.map(({ action }) => action))].map((action) => {
    const count = pages.filter((page) => page.action === action).length
    return { action, step: `${count} man pages`, detail: undefined, remedy: undefined }
  })
  const others = steps.filter((step) => !isManualPage(step))
  return [
    ...others.map(({ action, description, detail, remedy }) => ({ action, step: description, detail, remedy })),
    ...counts,
  ]
}
