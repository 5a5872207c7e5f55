"""A stand-in for the types of Isaac Gym's modules: what can be named and set, and nothing else.

Fields and constants are those of the documentation of `isaacgym.gymapi` (Preview 3) and of the type
stubs yzqin/isaacgym-stubs (Preview 4). As in a compiled module, an attribute that a type does not
have cannot be set either. Runs under Python 3.8.
"""

import weakref
from enum import IntEnum
from types import SimpleNamespace

import numpy as np


class RuleBroken(BaseException):
    """A rule of Isaac Gym's was broken; no `except Exception` of the code under test hides it."""


def _enum(name, *members):
    return IntEnum(name, members, start=0)


UpAxis = _enum("UpAxis", "UP_AXIS_Y", "UP_AXIS_Z")
SimType = _enum("SimType", "SIM_PHYSX", "SIM_FLEX")
ContactCollection = _enum("ContactCollection", "CC_NEVER", "CC_LAST_SUBSTEP", "CC_ALL_SUBSTEPS")
DofDriveMode = _enum(
    "DofDriveMode", "DOF_MODE_NONE", "DOF_MODE_POS", "DOF_MODE_VEL", "DOF_MODE_EFFORT"
)
CoordinateSpace = _enum("CoordinateSpace", "ENV_SPACE", "LOCAL_SPACE", "GLOBAL_SPACE")
ENUMS = (UpAxis, SimType, ContactCollection, DofDriveMode, CoordinateSpace)
CONSTANTS = {member.name: member for enum in ENUMS for member in enum}


def expect(value, kind):
    """As a compiled function does of an argument: an enumeration's member is no number."""
    if type(value) is not kind:
        raise TypeError(f"incompatible function arguments: {value!r} is no {kind.__name__}")


def _struct(name, **fields):
    """A type with these fields and their defaults; callables make a default."""

    def start(self, *values, **named):
        for field, default in fields.items():
            setattr(self, field, default() if callable(default) else default)
        given = dict(zip(fields, values))  # noqa: B905 - Python 3.8 has no strict
        for field, value in dict(given, **named).items():
            setattr(self, field, value)

    def put(self, field, value):
        if isinstance(fields.get(field), IntEnum):
            expect(value, type(fields[field]))
        object.__setattr__(self, field, value)

    return type(name, (), {"__slots__": tuple(fields), "__init__": start, "__setattr__": put})


Vec3 = _struct("Vec3", x=0.0, y=0.0, z=0.0)
Quat = _struct("Quat", x=0.0, y=0.0, z=0.0, w=1.0)
Transform = _struct("Transform", p=Vec3, r=Quat)
PhysXParams = _struct(
    "PhysXParams",
    always_use_articulations=False, bounce_threshold_velocity=0.2,
    contact_collection=ContactCollection.CC_ALL_SUBSTEPS,
    contact_offset=0.02, default_buffer_size_multiplier=2.0, friction_correlation_distance=0.025,
    friction_offset_threshold=0.04, max_depenetration_velocity=100.0, max_gpu_contact_pairs=2**20,
    num_position_iterations=4, num_subscenes=0, num_threads=0, num_velocity_iterations=1,
    rest_offset=0.001, solver_type=0, use_gpu=False,
)  # fmt: skip
SimParams = _struct(
    "SimParams",
    dt=1.0 / 60.0, enable_actor_creation_warning=True, flex=None,
    gravity=lambda: Vec3(0.0, -9.8, 0.0), num_client_threads=0, physx=PhysXParams,
    stress_visualization=False, stress_visualization_max=0.0, stress_visualization_min=0.0,
    substeps=2, up_axis=UpAxis.UP_AXIS_Y, use_gpu_pipeline=False,
)  # fmt: skip
PlaneParams = _struct(
    "PlaneParams",
    distance=0.0, dynamic_friction=1.0, normal=lambda: Vec3(0.0, 1.0, 0.0), restitution=0.0,
    segmentation_id=0, static_friction=1.0,
)  # fmt: skip
TriangleMeshParams = _struct(
    "TriangleMeshParams",
    dynamic_friction=1.0, nb_triangles=0, nb_vertices=0, restitution=0.0, segmentation_id=0,
    static_friction=1.0, transform=Transform,
)  # fmt: skip
AssetOptions = _struct(
    "AssetOptions",
    angular_damping=0.5, armature=0.0, collapse_fixed_joints=False,
    convex_decomposition_from_submeshes=False, default_dof_drive_mode=0, density=1000.0,
    disable_gravity=False, enable_gyroscopic_forces=True, fix_base_link=False,
    flip_visual_attachments=False, linear_damping=0.0, max_angular_velocity=64.0,
    max_linear_velocity=1000.0, mesh_normal_mode=0, min_particle_mass=1e-12, override_com=False,
    override_inertia=False, replace_cylinder_with_capsule=False, slices_per_cylinder=20,
    tendon_limit_stiffness=1.0, thickness=0.02, use_mesh_materials=False, use_physx_armature=True,
    vhacd_enabled=False, vhacd_params=None,
)  # fmt: skip
RigidShapeProperties = _struct(
    "RigidShapeProperties",
    compliance=0.0, contact_offset=0.02, filter=0, friction=1.0, rest_offset=0.0, restitution=0.0,
    rolling_friction=0.0, thickness=0.0, torsion_friction=0.0,
)  # fmt: skip
RigidBodyProperties = _struct("RigidBodyProperties", com=Vec3, mass=0.0)
DOF_PROPERTIES = np.dtype(
    [
        ("hasLimits", "?"), ("lower", "<f4"), ("upper", "<f4"), ("driveMode", "<i4"),
        ("velocity", "<f4"), ("effort", "<f4"), ("stiffness", "<f4"), ("damping", "<f4"),
        ("friction", "<f4"), ("armature", "<f4"),
    ]
)  # fmt: skip


class Tensor:
    """The little of a torch tensor that numpy code needs; on a "GPU" numpy cannot see it."""

    __slots__ = ("__weakref__", "_data", "device")

    def __init__(self, data, device="cpu"):
        self._data, self.device = data, device

    @property
    def shape(self):
        return self._data.shape

    @property
    def dtype(self):
        return self._data.dtype

    def is_contiguous(self):
        return self._data.flags.c_contiguous

    def cpu(self):
        return self if self.device == "cpu" else Tensor(self._data.copy())

    def numpy(self):
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return self._data

    def copy_(self, other):
        if not isinstance(other, Tensor):
            raise TypeError("copy_(): argument 'other' must be Tensor")
        self._data[...] = other._data
        return self

    def to(self, dtype):
        return Tensor(self._data.astype(dtype), self.device)


class Descriptor:
    """An address; the tensor there may be gone."""

    __slots__ = ("_reference", "_kept")

    def __init__(self, tensor, kept=False):
        self._reference, self._kept = weakref.ref(tensor), tensor if kept else None

    def tensor(self):
        tensor = self._reference()
        if tensor is None:
            raise RuleBroken("a tensor handed over was not kept: its address holds anything")
        return tensor


def _unwrap(tensor):
    if not isinstance(tensor, Tensor) or not tensor.is_contiguous():
        raise Exception("Input tensor must be contiguous")
    return Descriptor(tensor)


def _zeros(shape, dtype=np.float32, device="cpu"):
    return Tensor(np.zeros(shape, dtype), device)


def modules(gym):
    """Namespaces with the names of gymapi (which gives `gym` out), gymtorch and torch."""
    structs = (
        Vec3, Quat, Transform, PhysXParams, SimParams, PlaneParams, TriangleMeshParams,
        AssetOptions, RigidShapeProperties, RigidBodyProperties,
    )  # fmt: skip
    named = {struct.__name__: struct for struct in structs}
    gymapi = SimpleNamespace(acquire_gym=lambda: gym, **named, **CONSTANTS)
    gymtorch = SimpleNamespace(unwrap_tensor=_unwrap, wrap_tensor=lambda held: held.tensor())
    cuda = SimpleNamespace(get_device_name=lambda index: f"stand-in GPU {index}")
    torch = SimpleNamespace(
        zeros=_zeros, from_numpy=Tensor, float32=np.float32, int32=np.int32, int64=np.int64,
        cuda=cuda,
    )  # fmt: skip
    return gymapi, gymtorch, torch
