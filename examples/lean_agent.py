"""Train a premise retriever over a repository and prove with what it retrieves."""

from lean_dojo_v2.agent import LeanAgent


def main() -> None:
    url = "https://github.com/durant42040/lean4-example"
    commit = "b14fef0ceca29a65bc3122bf730406b33c7effe5"

    agent = LeanAgent()
    agent.setup_github_repository(url=url, commit=commit)
    agent.train()
    agent.prove()


if __name__ == "__main__":
    main()
