/** Several statements, one Sync: one round trip, and nothing runs after the first that fails (contract 5.2). */

export interface Statement {
  text: string
  /** Bound as text. */
  values: readonly (string | null)[]
  /** What somebody reads of it: its rows without their names and types, or its tag alone; absent: all. */
  reads?: 'rows' | 'tag'
}

/** As Postgres wrote it, so that it may cross from one isolate to another; `rowsOf` reads it. */
export interface Result {
  /** The command tag: `SELECT 1`; a COMMIT of a failed transaction comes back as `ROLLBACK`. */
  tag: string
  /** Of its columns, like the types. */
  names: string[]
  types: number[]
  rows: (string | null)[][]
}

/** The part of the driver's connection that sends messages of the extended query protocol. */
interface Wire {
  parse(message: { text: string; name: string; types: never[] }): void
  bind(message: { portal: string; statement: string; values: unknown[]; binary: boolean }): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { portal: string; rows: number }): void
  sync(): void
}

const noStream = 'COPY … FROM STDIN: a request has no stream to copy from'

/** What the driver's client accepts in place of a query. */
export class Flight {
  readonly done: Promise<Result[]>
  #statements: readonly Statement[]
  #results: Result[] = []
  #current: Omit<Result, 'tag'> = { names: [], types: [], rows: [] }
  #isCopying = false
  #resolve!: (results: Result[]) => void
  #reject!: (error: unknown) => void

  constructor(statements: readonly Statement[]) {
    this.#statements = statements
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(wire: Wire): void {
    for (const { text, values, reads } of this.#statements) {
      wire.parse({ text, name: '', types: [] })
      wire.bind({ portal: '', statement: '', values: [...values], binary: false })
      if (!reads) wire.describe({ type: 'P', name: '' })
      wire.execute({ portal: '', rows: 0 })
    }
    wire.sync()
  }

  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#current.names = message.fields.map(({ name }) => name)
    this.#current.types = message.fields.map(({ dataTypeID }) => dataTypeID)
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    if (this.#statements[this.#results.length]?.reads !== 'tag') this.#current.rows.push(message.fields)
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#results.push({ tag: text, ...this.#current })
    this.#current = { names: [], types: [], rows: [] }
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#results)
  }

  /** After an error the driver calls nothing else of this flight. */
  handleError(error: unknown): void {
    // Postgres complains of the statement that came where it wanted data: the flight goes on after its Sync
    this.#reject(this.#isCopying ? Object.assign(new Error(noStream), { code: '0A000' }) : error)
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(): void {
    this.#isCopying = true
  }

  handleCopyData(): void {}
}
