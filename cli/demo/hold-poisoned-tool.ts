// A service of the demo of the gateway changes a definition to a text that misleads: the tool is held, and the rest goes on.
import type { ApiObject } from '../client/client.ts'
import { formatServiceTerms, formatToolReview } from '../format/tool-review.ts'
import { line_break, paragraph_break } from '../terminal/output.ts'
import { berthsInput, routeInput } from './call-tools.ts'
import { distanceTool, poisoned_description, readToolState } from './gateway-services.ts'
import { demoTools, type GatewayStage } from './gateway-stage.ts'
import { waitUntil } from './wait-until.ts'

const poisoned_service = 'maps'

export async function holdPoisonedTool(stage: GatewayStage): Promise<void> {
  const { services, caller, admin, list, signal, printLine } = stage
  services.maps.setTool(distanceTool(poisoned_description))
  printLine('maps lists another description of its tool distance')
  await waitUntil(`${demoTools.distance} to be held`, signal, async () => {
    return (await readToolState(admin, demoTools.distance)) === 'held'
  })
  const isListed = (await caller.listNames()).includes(demoTools.distance)
  list.add('poisoned_withdrawn', !isListed, `${demoTools.distance} is held${isListed ? ', and still listed' : ''}`)
  const { failure } = await caller.call(demoTools.distance, routeInput)
  list.add('poisoned_refused', failure !== undefined, failure ?? 'it answered')
  await reviewChange(stage)

  const { reads } = services.maps
  services.maps.setTool(distanceTool())
  printLine('maps lists the accepted description again')
  await waitUntil('maps to be read again', signal, async () => services.maps.reads > reads)
  const state = await readToolState(admin, demoTools.distance)
  const isBack = (await caller.listNames()).includes(demoTools.distance)
  list.add('poisoned_stays_held', state === 'held' && !isBack, `${state} until an administrator accepts it`)
  const berths = await caller.call(demoTools.berths, berthsInput)
  list.add('others_go_on', berths.failure === undefined, berths.failure ?? `${demoTools.berths} answers`)
}

/** Prints the output of `platform gateway review maps --changed`. */
async function reviewChange({ admin, list, printLine, terminal }: GatewayStage): Promise<void> {
  const { tools, authentication, input } = await admin.call('gateway.service-tool.review', { name: poisoned_service })
  const changed = (tools as ApiObject[]).filter(({ state }) => state !== 'accepted')
  printLine(`\`platform gateway review ${poisoned_service} --changed\` shows:`)
  const terms = formatServiceTerms(poisoned_service, authentication, input as string[])
  const shown = [terms, formatToolReview(terminal, changed)].join(paragraph_break)
  for (const line of shown.split(line_break)) printLine(`| ${line}`)
  const findings = (changed[0]?.findings ?? []) as readonly { readonly kind: string }[]
  const kinds = [...new Set(findings.map(({ kind }) => kind))]
  list.add('poison_marked', kinds.includes('instruction') && kinds.includes('credential'), `marks: ${kinds.join(', ')}`)
}
