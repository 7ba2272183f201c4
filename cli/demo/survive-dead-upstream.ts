// A site of the demo of the gateway is killed: its tools answer that it is unavailable, others go on, and after a restart it answers again.
import { berthsInput } from './call-tools.ts'
import { demoTools, type GatewayStage } from './gateway-stage.ts'
import { waitUntil } from './wait-until.ts'

/** `run_id`: of the run at bravo. */
export async function surviveDeadUpstream(stage: GatewayStage, run_id: string): Promise<void> {
  const { sites, caller, list, signal, printLine } = stage
  await sites.bravo.kill()
  printLine('the daemon of bravo is killed')
  const dead = await caller.call(demoTools.summary, { run_id })
  const isUnavailable = dead.failure?.startsWith('unavailable') ?? false
  list.add('dead_is_unavailable', isUnavailable, dead.failure ?? 'it answered')
  const isListed = (await caller.listNames()).includes(demoTools.summary)
  list.add('dead_is_listed', isListed, `${demoTools.summary} is ${isListed ? 'still' : 'not'} in the list`)
  const berths = await caller.call(demoTools.berths, berthsInput)
  list.add('others_survive', berths.failure === undefined, berths.failure ?? `${demoTools.berths} answers`)

  await sites.restartBravo()
  printLine('bravo runs again')
  let again = dead
  await waitUntil('the tools of bravo', signal, async () => {
    again = await caller.call(demoTools.summary, { run_id })
    return again.failure === undefined
  })
  list.add('dead_is_back', again.failure === undefined, `${demoTools.summary} answers over the same connection`)
}
