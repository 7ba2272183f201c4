// When a network is done with what a site has sent.
import { until } from '../../support/site-world.ts'
import type { Site } from './two-sites.ts'

/** Until a network has taken all that the site has sent. A folder that is empty for a moment says nothing of what follows. */
export async function allTaken({ transport }: Site): Promise<void> {
  await until(async () => {
    await transport.rescan()
    return (await transport.status()).every(({ direction, backlog }) => direction === 'in' || backlog === 0)
  })
}
