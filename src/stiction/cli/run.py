"""`stiction run`: simulate a scene and show what happened."""

from pathlib import Path

from stiction.cli.command import Answer, Output, command
from stiction.cli.options import BASE, SCENE, SET, Text, Texts, option, read_scene
from stiction.cli.terminal import show_table
from stiction.report import OutputDirectory, working

VIDEO = option(None, "FILE", "Render the motion into an .mp4 or a .gif too.")


@command("Simulate", writes="always")
def run(
    output: Output,
    scene: str = SCENE,
    set_: Texts = SET,
    base: Text = BASE,
    video: Path | None = VIDEO,
) -> Answer:
    """Simulate a scene or a model, and write data, figures and a report that plays the motion.

    Examples:
      stiction run double-pendulum
      stiction run bicycle --set ground.slope_deg=30 --out out/steep
      stiction run robot.urdf --base free --set until=2 --json
      stiction run box --video box.mp4
    """
    if video is not None:
        from stiction.report.video import check_video

        check_video(video)
    described = read_scene(scene, set_, base)
    directory = output.open(Path(scene).stem, always=True)
    with working("simulating"):
        done = described.run()
        from stiction.report.run import story, summarize_run, write_run

        summary = summarize_run(done)

    def show() -> None:
        rows = [{"quantity": what, "value": how_much} for what, how_much in story(summary)]
        show_table(rows, title=described.scenario.title or scene, header=False)

    failure = ""
    if not summary["success"] and directory is not None:
        failure = f"{summary['message']} What was computed is in '{directory.path}'."

    def write(directory: OutputDirectory) -> Path:
        page = write_run(done, summary, directory)
        if video is not None:
            from stiction.report.video import write_video

            summary["video"] = write_video(done, video)
        return page

    return Answer(summary, show, write, failure)
