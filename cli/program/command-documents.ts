// Documents that are rendered from the definitions of all commands: man pages and completion scripts.
import { product } from '../../adapters/platform/product/product.ts'
import { commandCatalogue } from './command-catalogue.ts'
import { buildCompletionScript } from './completion-script.ts'
import { renderManual } from './manual-pages.ts'

/** The same for every run of one version, so that a repeat changes nothing. */
export async function renderCommandDocuments() {
  const definitions = await Promise.all(Object.values(commandCatalogue).map(async (load) => (await load()).definition))
  return {
    completions: {
      bash: buildCompletionScript('bash', definitions),
      zsh: buildCompletionScript('zsh', definitions),
      fish: buildCompletionScript('fish', definitions),
    },
    manual: renderManual(definitions, product.version),
  }
}
