import { componentsPage } from './page-components.ts'
import { evaluationPage } from './page-evaluation.ts'
import { judgePage } from './page-judge.ts'
import { nodesPage } from './page-nodes.ts'
import { overviewPage } from './page-overview.ts'
import { rolloutsPage } from './page-rollouts.ts'
import type { Page } from './page.ts'
import type { PageName } from './router.ts'

/** The pages of a run, by the name in their address. */
export const pages = {
  overview: overviewPage,
  nodes: nodesPage,
  components: componentsPage,
  rollouts: rolloutsPage,
  evaluation: evaluationPage,
  judge: judgePage,
} as const satisfies Record<PageName, Page>
