import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/every-test.ts'],
    // each edge file starts a Postgres and a workerd: two at once suit two cores
    maxWorkers: 2,
    // milliseconds; only a hang takes so long, also where both cores have other work
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
})
